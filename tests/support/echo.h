// Hosts and guests of the echo backend, for tests of the core and of the ABIs.
#pragma once

#include <wasinn/engine.h>

#include "support/test.h"

namespace wasinn::testing {

// An encoding of the ABIs that the echo backend serves.
inline constexpr uint32_t kGgmlEncoding = 5;

// Collects what a host logs.
class Log {
 public:
  static void Write(void* self, const wasinn_log_record* record);
  std::vector<std::string> lines() const;
  bool Contains(std::string_view text) const;
  std::string Last() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using StatusPtr = std::unique_ptr<wasinn_status, Freer<wasinn_status, wasinn_status_free>>;
using HostPtr = std::unique_ptr<wasinn_host, Freer<wasinn_host, wasinn_host_free>>;
using GuestPtr = std::unique_ptr<wasinn_guest, Freer<wasinn_guest, wasinn_guest_free>>;
using ConfigPtr = std::unique_ptr<wasinn_config, Freer<wasinn_config, wasinn_config_free>>;

// Settings of such a host as EchoHost makes.
ConfigPtr EchoConfig(const std::string& toml = "", const std::string& folder = "");
// A host whose only backends are echo and those of another folder; `toml` is further configuration. The log must
// outlive it.
HostPtr EchoHost(Log& log, const std::string& toml = "", const std::string& folder = "");
// The same, with what it logs.
class LoggedHost {
 public:
  explicit LoggedHost(const std::string& toml = "", const std::string& folder = "")
      : host_(EchoHost(log, toml, folder)) {}
  wasinn_host* get() const { return host_.get(); }
  wasinn_host* operator->() const { return get(); }
  operator const HostPtr&() const { return host_; }  // NOLINT(google-explicit-constructor): it is one

  Log log;

 private:
  const HostPtr host_;
};

// The text of an echo model: EchoModel("in x f32 2,3\n").
std::string EchoModel(std::string_view directives);
// Registers one.
void AddEchoModel(wasinn_host* host, const char* name, std::string_view directives);
StatusPtr AddEchoModel(wasinn_host* host, const char* name, std::string_view directives, wasinn_model_options options);
// How often models of this host were loaded by their frameworks.
uint64_t CompilesOf(const HostPtr& host);

GuestPtr NewGuest(wasinn_host* host, const wasinn_guest_options* options = nullptr);
wasinn_statistics StatsOf(const GuestPtr& guest);
// One of whose limits is not the host's: NewGuest(host, &wasinn_limits::load_timeout_ms, 50).
GuestPtr NewGuest(wasinn_host* host, uint32_t wasinn_limits::* limit, uint32_t value);
GuestPtr NewGuest(wasinn_host* host, uint64_t wasinn_limits::* limit, uint64_t value);
GuestPtr NewGuest(wasinn_host* host, const std::function<void(wasinn_limits&)>& set);
GuestPtr NewGuest(wasinn_host* host, const std::function<void(wasinn_policy&)>& set);

// A function of the table: "compute" of wasi_ephemeral_nn, "wasinn_ext_0.describe".
const wasinn_function& FunctionNamed(std::string_view name);

// The errnos of wasi-nn, for expectations.
enum : uint32_t {
  kSuccess = 0,
  kInvalidArgument = 1,
  kInvalidEncoding = 2,
  kMissingMemory = 3,
  kBusy = 4,
  kRuntimeError = 5,
  kUnsupportedOperation = 6,
  kTooLarge = 7,
  kNotFound = 8
};
// The tensor types of witx.
enum : uint8_t { kF16 = 0, kF32 = 1, kF64 = 2, kU8 = 3, kI32 = 4, kI64 = 5 };
template <typename T>
inline constexpr uint8_t kTypeOf = std::is_same_v<T, float>     ? kF32
                                   : std::is_same_v<T, int32_t> ? kI32
                                   : std::is_same_v<T, int64_t> ? kI64
                                                                : kU8;

// A guest without an engine: 64 KiB or more of linear memory, and functions called by name on it.
class FakeGuest {
 public:
  explicit FakeGuest(wasinn_guest* guest, size_t memory_size = 1 << 16) : guest_(guest), memory_(memory_size) {}

  uint32_t Call(std::string_view function, const std::vector<uint64_t>& args);
  // Copies bytes to a place in memory that nothing else uses, and returns its address.
  uint32_t Put(const void* bytes, size_t size);
  uint32_t Put(std::string_view text) { return Put(text.data(), text.size()); }
  template <typename T>
  uint32_t PutAll(const std::vector<T>& values) {
    return Put(values.data(), values.size() * sizeof(T));
  }
  uint32_t Reserve(size_t size);
  // Forgets everything that was put and reserved.
  void Rewind() { next_ = kFirstAddress; }
  template <typename T>
  T Read(uint32_t address) const {
    T value;
    std::memcpy(&value, memory_.data() + address, sizeof(T));
    return value;
  }
  // A tensor descriptor; `type` is the number of the ABI.
  uint32_t PutTensor(const std::vector<uint32_t>& dims, uint8_t type, uint32_t data, uint32_t size);

  // The usual sequence. Each returns the errno; handles come back through the last argument.
  uint32_t LoadBytes(std::string_view model, uint32_t encoding, uint32_t& graph);
  uint32_t LoadByName(std::string_view name, uint32_t& graph);
  uint32_t InitContext(uint32_t graph, uint32_t& context);
  template <typename T>
  uint32_t SetInput(uint32_t context, uint32_t index, const std::vector<uint32_t>& dims, uint8_t type,
                    const std::vector<T>& values) {
    const uint32_t data = PutAll(values);
    return Call("set_input",
                {context, index, PutTensor(dims, type, data, static_cast<uint32_t>(values.size() * sizeof(T)))});
  }
  // An input of one dimension.
  template <typename T = float>
  uint32_t Set(uint32_t context, const std::vector<T>& values, uint32_t index = 0) {
    return SetInput(context, index, {static_cast<uint32_t>(values.size())}, kTypeOf<T>, values);
  }
  uint32_t Compute(uint32_t context) { return Call("compute", {context}); }
  uint32_t Finalize(uint32_t context) { return Call("finalize_execution_context", {context}); }
  template <typename T = float>
  std::vector<T> Output(uint32_t context, uint32_t index = 0) {
    const std::string bytes = Text("get_output", {context, index});
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  // The output of a compute on these values; none after an error. Their place is free again afterwards.
  template <typename T = float>
  std::vector<T> Infer(uint32_t context, const std::vector<T>& values) {
    const uint32_t place = next_;
    EXPECT_EQ(Set(context, values), kSuccess);
    next_ = place;
    return Compute(context) == kSuccess ? Output<T>(context) : std::vector<T>();
  }
  // A context of a registered model.
  uint32_t NewContext(std::string_view name);
  // A context of a model of these directives; 0 if it cannot be loaded.
  uint32_t Open(std::string_view directives);
  uint32_t LoadWithConfig(std::string_view name, std::string_view config, uint32_t& graph);
  // The bytes that a function writes whose last arguments are a buffer, its size and a place for the written size.
  std::string Text(std::string_view function, std::vector<uint64_t> args);
  std::string LastError() { return Text("wasinn_ext_0.last_error", {}); }

  std::vector<uint8_t>& memory() { return memory_; }
  void HideMemory() { hidden_ = true; }

 private:
  static constexpr uint32_t kFirstAddress = 64;
  wasinn_guest* guest_;
  std::vector<uint8_t> memory_;
  uint32_t next_ = kFirstAddress;
  bool hidden_ = false;
};

// A guest and its program.
struct EchoProgram : FakeGuest {
  explicit EchoProgram(wasinn_host* host, size_t memory_size = 1 << 20) : EchoProgram(NewGuest(host), memory_size) {}
  explicit EchoProgram(GuestPtr its, size_t memory_size = 1 << 20)
      : FakeGuest(its.get(), memory_size), guest(std::move(its)) {}
  wasinn_statistics Stats() const { return StatsOf(guest); }

  GuestPtr guest;
};

}  // namespace wasinn::testing
