// Shared by the tests of the backends, over the driver: computing, interrupting, and every element type.
#pragma once

#include "backends/test_host.h"
#include "support/own_process.h"
#include "support/test.h"

namespace wasinn::test {

using testing::AllocatedBytes;
using testing::CountThreads;

// Processor time that this thread has used.
inline double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A model that loads: else the test ends.
class LoadedModel : public Model {
 public:
  LoadedModel(const Host& host, const std::string& bytes, const LoadOptions& options = {})
      : Model(host, bytes, options) {
    if (!loaded()) throw std::runtime_error("the model does not load: " + loaded().message);
  }
};

// A host, a model of it, and a context of that.
struct Opened {
  explicit Opened(const std::string& bytes, const LoadOptions& options = {}, const std::string& host_config = "{}")
      : host(host_config), model(host, bytes, options), context(model) {}
  const Host host;
  const LoadedModel model;
  Context context;
};

// How many contexts can be made, one after the other, and the refusal of the next one.
struct Contexts {
  Contexts(const Host& host, const LoadedModel& model, const wasinn_slot_options& more) {
    wasinn_slot_options options = more;
    options.struct_size = sizeof(options);
    if (options.guest_config == nullptr) options.guest_config = "{}";
    std::vector<wasinn_backend_slot*> all;
    for (wasinn_backend_slot* one = nullptr; all.size() < 256; all.push_back(one)) {
      refused = TakeError(host.table().slot_new(model.get(), &options, &one));
      if (!refused) break;
    }
    made = all.size();
    for (wasinn_backend_slot* one : all) host.table().slot_free(one);
  }
  size_t made = 0;
  Result refused;
};

inline void MustCompute(Context* context) {
  const Result computed = context->Compute();
  ASSERT_TRUE(computed) << computed.message;
}

inline Tensor MustGet(Context* context, uint32_t output = 0) {
  Tensor tensor;
  const Result got = context->Get(output, &tensor);
  EXPECT_TRUE(got) << got.message;
  return tensor;
}

// Strings as guests have them (WASINN_IO_STRINGS). Each has `more` bytes of padding than the longest needs.
inline Tensor Strings(std::vector<int64_t> dims, const std::vector<std::string>& texts, size_t more = 0) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string bytes;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    std::string one(reinterpret_cast<const char*>(&length), sizeof(length));
    one += text;
    one.resize(sizeof(length) + longest + more);
    bytes += one;
  }
  dims.push_back(static_cast<int64_t>(sizeof(uint32_t) + longest + more));
  return {WASINN_DTYPE_U8, std::move(dims), bytes};
}
inline std::vector<std::string> TextsOf(const Tensor& tensor) {
  std::vector<std::string> texts;
  const auto width = static_cast<size_t>(tensor.dims.back());
  for (size_t at = 0; at < tensor.bytes.size(); at += width) {
    uint32_t length = 0;
    std::memcpy(&length, &tensor.bytes[at], sizeof(length));
    texts.push_back(tensor.bytes.substr(at + sizeof(length), length));
  }
  return texts;
}

// Output 0 of a compute on these inputs, of which others stay as they are.
inline Tensor Compute(Context* context, const std::vector<Tensor>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Result set = context->Set(i, inputs[i]);
    EXPECT_TRUE(set) << "input " << i << ": " << set.message;
  }
  MustCompute(context);
  return MustGet(context);
}

// A model whose data decide the output's shape: ONNX's NonZero of [2, 3].
inline void ExpectPlacesOfNonzeros(Context* context) {
  for (const auto& [values, places] :
       {std::pair<std::vector<float>, std::vector<int64_t>>({0, 1, 0, 0, 2, 3}, {0, 1, 1, 1, 1, 2}),
        {{0, 0, 0, 0, 0, 0}, {}},
        {{7, 0, 0, 0, 0, 0}, {0, 0}}}) {
    const Tensor out = Compute(context, {Floats({2, 3}, values)});
    EXPECT_THAT(out.dims, ElementsAre(2, static_cast<int64_t>(places.size() / 2)));
    EXPECT_EQ(out.As<int64_t>(), places);
  }
}
// The same, in a context that is gone then.
inline Tensor Compute(const Model& model, const std::vector<Tensor>& inputs) {
  Context context(model);
  return Compute(&context, inputs);
}

// Cancels again and again after a while, like the core's watchdog, until Stop.
class Watchdog {
 public:
  explicit Watchdog(Context* context, std::chrono::milliseconds after = std::chrono::milliseconds(20))
      : thread_([this, context, after] {
          std::this_thread::sleep_for(after);
          while (!done_) {
            context->Cancel();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Watchdog() {
    done_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// A language model's text is cut, if there was any by then.
inline bool WasCancelled(const Result& computed) {
  if (computed.code == WASINN_ERROR_CONTEXT_FULL) return computed.message.starts_with("the text was cut");
  return computed.code == WASINN_ERROR_TIMEOUT;
}

// Checks that a compute without an end can be cancelled.
inline void ExpectCancellable(Context* context) {
  for (int i = 0; i < 2; ++i) {
    const Watchdog watchdog(context);
    const Result computed = context->Compute();
    EXPECT_TRUE(WasCancelled(computed)) << computed.message;
  }
}

// Computes again and again, until a cancel has met a compute.
inline void ComputeUntilCancelled(Context* context) {
  const Watchdog watchdog(context, std::chrono::milliseconds(0));
  Result computed;
  while (computed) computed = context->Compute();
  EXPECT_TRUE(WasCancelled(computed)) << computed.message;
}

// A compute without an end, on a thread of its own, until this ends.
class Busy {
 public:
  explicit Busy(Context* context)
      : context_(context), thread_([this] {
          const Result computed = context_->Compute();
          has_ended_ = true;
          EXPECT_TRUE(WasCancelled(computed)) << computed.message;
        }) {}
  ~Busy() {
    const Watchdog now(context_, std::chrono::milliseconds(0));
    thread_.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  bool has_ended() const { return has_ended_; }

 private:
  Context* const context_;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

struct ElementType {
  const char* name;
  wasinn_dtype dtype;
  size_t size;
};
inline const ElementType kElementTypes[] = {
    {"f16", WASINN_DTYPE_F16, 2},  {"bf16", WASINN_DTYPE_BF16, 2}, {"f32", WASINN_DTYPE_F32, 4},
    {"f64", WASINN_DTYPE_F64, 8},  {"u8", WASINN_DTYPE_U8, 1},     {"i8", WASINN_DTYPE_I8, 1},
    {"u16", WASINN_DTYPE_U16, 2},  {"i16", WASINN_DTYPE_I16, 2},   {"u32", WASINN_DTYPE_U32, 4},
    {"i32", WASINN_DTYPE_I32, 4},  {"u64", WASINN_DTYPE_U64, 8},   {"i64", WASINN_DTYPE_I64, 8},
    {"bool", WASINN_DTYPE_BOOL, 1}};

// A tensor of shape [2, 3] in which every bit of a number may be set; a bool is 0 or 1.
inline Tensor EveryBit(const ElementType& type) {
  Tensor tensor{type.dtype, {2, 3}, ""};
  for (size_t i = 0; i < 6 * type.size; ++i) {
    tensor.bytes += static_cast<char>(type.dtype == WASINN_DTYPE_BOOL ? i % 2 : 0x81 + 37 * i);
  }
  return tensor;
}

// Checks that a model of one input gives it back bit for bit, also in another shape.
inline void ExpectIdentity(const LoadedModel& model, const Tensor& in, const std::vector<int64_t>& dims) {
  if (model.input(0).dtype != WASINN_DTYPE_UNKNOWN) {
    EXPECT_EQ(model.input(0).dtype, in.dtype);
    EXPECT_EQ(model.output(0).dtype, in.dtype);
  }
  const Tensor out = Compute(model, {in});
  EXPECT_EQ(out.dtype, in.dtype);
  EXPECT_EQ(out.dims, dims);
  EXPECT_EQ(out.bytes, in.bytes);
}

}  // namespace wasinn::test
