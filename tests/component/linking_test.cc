// Putting wasi:nn into a linker, and a store's limits.
#include <sys/mman.h>
#include <unistd.h>
#include <wasinn/wit.h>

#include "component/puppet.h"
#include "support/echo.h"

// The library's own entry, which wasinn_wasmtime_component_link calls.
extern "C" {
struct wasinn_component_link_options {
  uint32_t struct_size;
  const void* linker_new;
  const wasinn_wit_functions* functions;
  wasinn_wasmtime_guest_of guest_of;
  void* user;
  const char* (*status_message)(const wasinn_status*);
  void (*status_free)(wasinn_status*);
};
struct wasinn_component_async_options {
  uint32_t struct_size;
  wasinn_wasmtime_async_caller_of caller_of;
  void (*guest_close)(wasinn_guest*);
};
wasmtime_error_t* wasinn_component_link(wasmtime_component_linker_t*, const wasinn_component_link_options*);
wasmtime_error_t* wasinn_component_link_async(wasmtime_component_linker_t*, const wasinn_component_link_options*,
                                              const wasinn_component_async_options*);
}

namespace wasinn::testing {
namespace {

class ComponentLinking : public ::testing::Test {
 protected:
  ComponentLinking() : engine_(wasm_engine_new()), linker_(wasmtime_component_linker_new(engine_)) {}
  ~ComponentLinking() override {
    wasmtime_component_linker_delete(linker_);
    wasm_engine_delete(engine_);
  }

  static std::string Take(wasmtime_error_t* error) {
    if (error == nullptr) return "";
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    std::string text(message.data, message.size);
    wasm_name_delete(&message);
    wasmtime_error_delete(error);
    return text;
  }
  static std::string Take(wasinn_status* status) {
    if (status == nullptr) return "";
    std::string text = wasinn_status_message(status);
    wasinn_status_free(status);
    return text;
  }

  // The text of the link error of a component.
  std::string Pre(const std::string& text) {
    wasmtime_component_t* component = nullptr;
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    if (std::string error = Take(wasmtime_component_new(engine_, bytes, text.size(), &component)); !error.empty()) {
      return error;
    }
    wasinn_wasmtime_component_pre* pre = nullptr;
    std::string error = Take(wasinn_wasmtime_component_pre_new(linker_, component, &pre));
    EXPECT_EQ(pre == nullptr, !error.empty());
    wasinn_wasmtime_component_pre_delete(pre);
    wasmtime_component_delete(component);
    return error;
  }

  Log log_;
  const HostPtr host_ = EchoHost(log_);
  wasm_engine_t* engine_;
  wasmtime_component_linker_t* linker_;
};

wasinn_guest* NoGuest(wasmtime_context_t*, void*) { return nullptr; }
wasinn_wasmtime_async_caller NoCaller(wasmtime_context_t*, void*) { return {}; }

TEST_F(ComponentLinking, EveryVersionLinks) {
  ASSERT_EQ(Take(wasinn_wasmtime_component_link(linker_, nullptr, NoGuest, nullptr)), "");
  for (const char* version : {kOctober, kAugust, kJune}) EXPECT_EQ(Pre(PuppetText(version)), "");
  EXPECT_THAT(Take(wasinn_wasmtime_component_link(linker_, nullptr, NoGuest, nullptr)), HasSubstr("defined twice"));
}

TEST_F(ComponentLinking, ErrorsNameTheMissingImport) {
  EXPECT_THAT(Pre(PuppetText(kOctober)), HasSubstr("wasi:nn/tensor@0.2.0-rc-2024-10-28"));
  ASSERT_EQ(Take(wasinn_wasmtime_component_link(linker_, nullptr, NoGuest, nullptr)), "");
  EXPECT_THAT(Pre("(component (import \"wasi:nn/tensor@0.2.0-rc-2099-01-01\" (instance (export \"f\" (func)))))"),
              HasSubstr("wasi:nn/tensor@0.2.0-rc-2099-01-01"));
  EXPECT_THAT(Pre("(component (import \"wasi:nn/graph@0.2.0-rc-2024-10-28\" (instance (export \"unload\" (func)))))"),
              HasSubstr("unload"));
}

TEST_F(ComponentLinking, NullIsAnError) {
  EXPECT_THAT(Take(wasinn_wasmtime_component_link(nullptr, nullptr, NoGuest, nullptr)), HasSubstr("needs a linker"));
  EXPECT_THAT(Take(wasinn_wasmtime_component_link(linker_, nullptr, nullptr, nullptr)), HasSubstr("needs a linker"));
  EXPECT_THAT(Take(wasinn_wasmtime_component_link_async(nullptr, nullptr, NoCaller, nullptr)),
              HasSubstr("needs a linker"));
  EXPECT_THAT(Take(wasinn_wasmtime_component_link_async(linker_, nullptr, nullptr, nullptr)),
              HasSubstr("needs a linker"));
  wasinn_wasmtime_component_pre_delete(nullptr);
}

TEST_F(ComponentLinking, EveryVersionLinksForFutures) {
  ASSERT_EQ(Take(wasinn_wasmtime_component_link_async(linker_, nullptr, NoCaller, nullptr)), "");
  for (const char* version : {kOctober, kAugust, kJune}) EXPECT_EQ(Pre(PuppetText(version)), "");
  EXPECT_THAT(Take(wasinn_wasmtime_component_link(linker_, nullptr, NoGuest, nullptr)), HasSubstr("defined twice"));
}

TEST_F(ComponentLinking, OnlyBlockingCallsSuspendTheGuest) {
  AddEchoModel(host_.get(), "model", "in x u8 1\n");
  const GuestPtr guest = NewGuest(host_.get());
  Puppet program(PuppetShow::Of(kAugust, PuppetCalls::kAsync), guest.get());
  // How often it is woken.
  const auto wakes = [&](const char* function, std::initializer_list<uint32_t> args) {
    const int before = PuppetWakes();
    program.Call(function, args);
    return PuppetWakes() - before;
  };
  program.Poke(0, "model");
  program.PokeWords(8, {1});
  EXPECT_EQ(wakes("load", {0, 0, 0, 0, 128}), 1);
  EXPECT_EQ(wakes("load-by-name", {0, 5, 128}), 1);
  const uint32_t graph = program.Peek(132);
  EXPECT_EQ(wakes("init", {graph, 128}), 1);
  const uint32_t context = program.Peek(132), tensor = program.Call("tensor-new", {8, 1, 4, 64, 1});
  EXPECT_EQ(wakes("tensor-dimensions", {tensor, 128}), 0);
  EXPECT_EQ(wakes("tensor-drop", {program.Call("tensor-new", {0, 0, 4, 64, 1})}), 0);
  program.Poke(256, "x");
  EXPECT_EQ(wakes("set-input", {context, 256, 1, tensor, 128}), 0);
  EXPECT_EQ(wakes("compute", {context, 128}), 1);
  EXPECT_EQ(wakes("get-output", {context, 256, 1, 128}), 1);
  EXPECT_EQ(wakes("tensor-data", {program.Peek(132), 128}), 0);
  EXPECT_EQ(wakes("context-drop", {context}), 1);
  EXPECT_EQ(wakes("graph-drop", {graph}), 1);
  wasinn_guest_close(guest.get());
  const auto refused = program.Try("load-by-name", {0, 5, 128});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("the guest is closed")) << "nothing began";
}

// As in a program that also loaded another libwasmtime, whose linker this one must not touch.
TEST_F(ComponentLinking, TheLinkerOfAnotherLibraryIsRefused) {
  static int touched;
  wasinn_component_link_options options = {};
  options.struct_size = sizeof options;
  options.linker_new = &touched;
  EXPECT_THAT(Take(wasinn_component_link(linker_, &options)), HasSubstr("two Wasmtime libraries are loaded"));
  EXPECT_THAT(Pre(PuppetText(kOctober)), HasSubstr("wasi:nn")) << "nothing was defined";
}

TEST_F(ComponentLinking, AnOlderTableIsRefused) {
  wasinn_wit_functions functions = *wasinn_wit();
  functions.struct_size = offsetof(wasinn_wit_functions, begin);  // the last that components need
  wasinn_component_link_options options = {};
  options.struct_size = sizeof options;
  options.linker_new = reinterpret_cast<const void*>(&wasmtime_component_linker_new);
  options.functions = &functions;
  options.guest_of = NoGuest;
  EXPECT_THAT(Take(wasinn_component_link(linker_, &options)), HasSubstr("newer than this wasinn"));
}

// Four bytes that say a struct's size, and then nothing that may be read.
class ShortStruct {
 public:
  explicit ShortStruct(uint32_t size)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        mapped_(mmap(nullptr, 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_EQ(mprotect(mapped_, page_, PROT_READ | PROT_WRITE), 0);
    std::memcpy(get<char>(), &size, sizeof size);
  }
  ~ShortStruct() { munmap(mapped_, 2 * page_); }
  ShortStruct(const ShortStruct&) = delete;
  ShortStruct& operator=(const ShortStruct&) = delete;

  // Aligned as any struct, so there may be a few bytes more.
  template <typename T>
  T* get() const {
    return reinterpret_cast<T*>(static_cast<char*>(mapped_) + page_ - sizeof(void*));
  }

 private:
  const size_t page_;
  void* const mapped_;
};

TEST_F(ComponentLinking, AShorterStructIsNotReadPastItsEnd) {
  const ShortStruct four(4);
  EXPECT_THAT(Take(wasinn_component_link(linker_, four.get<wasinn_component_link_options>())),
              HasSubstr("newer than this wasinn (options of 4 bytes)"));
  wasinn_component_link_options options = {};
  options.struct_size = sizeof options;
  options.linker_new = reinterpret_cast<const void*>(&wasmtime_component_linker_new);
  options.functions = four.get<wasinn_wit_functions>();
  options.guest_of = NoGuest;
  EXPECT_THAT(Take(wasinn_component_link(linker_, &options)), HasSubstr("(functions of 4 bytes)"));
  options.functions = wasinn_wit();
  EXPECT_THAT(Take(wasinn_component_link_async(linker_, &options, four.get<wasinn_component_async_options>())),
              HasSubstr("(options of 4 bytes)"));
}

TEST_F(ComponentLinking, SetUpLetsPassWhatTheLimitsAllow) {
  constexpr uint32_t kBytes = 200'000'000;
  const GuestPtr guest = NewGuest(host_.get(), [](wasinn_limits& limits) {
    limits.max_tensor_bytes = kBytes;
    limits.max_model_bytes = 1000;
  });
  ASSERT_EQ(Take(wasinn_wasmtime_component_link_guest(linker_, guest.get())), "");
  const PuppetShow show(engine_, linker_, PuppetText(kOctober, 3200), PuppetCalls::kWait);
  {
    Puppet program(show, nullptr);
    const auto result = program.Try("tensor-new", {0, 0, 4, 0, kBytes});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(), HasSubstr("fuel allocated for hostcalls has been exhausted"));
  }
  Puppet program(show, nullptr);
  wasinn_wasmtime_component_set_up(program.context(), guest.get());
  EXPECT_TRUE(program.Try("tensor-new", {0, 0, 4, 0, kBytes}));
  EXPECT_EQ(StatsOf(guest).tensor_bytes, kBytes);
  const auto more = program.Try("tensor-new", {0, 0, 4, 0, kBytes + (2 << 20)});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error(), HasSubstr("fuel allocated for hostcalls has been exhausted"));
}

TEST_F(ComponentLinking, SetUpLowersNoLimitOfWasmtimes) {
  const GuestPtr guest = NewGuest(host_.get(), &wasinn_limits::max_tensor_bytes, uint64_t{1});
  ASSERT_EQ(Take(wasinn_wasmtime_component_link_guest(linker_, guest.get())), "");
  const PuppetShow show(engine_, linker_, PuppetText(kOctober, 1600), PuppetCalls::kWait);
  Puppet program(show, nullptr);
  wasinn_wasmtime_component_set_up(program.context(), guest.get());
  wasinn_wasmtime_component_set_up(program.context(), nullptr);
  const auto result = program.Try("tensor-new", {0, 0, 4, 0, 100'000'000});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), HasSubstr("limits.max_tensor_bytes")) << "it came as far as that";
}

}  // namespace
}  // namespace wasinn::testing
