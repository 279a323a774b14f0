// What the tests of the backends have in common, over the driver: computing, interrupting, and every element type.
#ifndef WASINN_TESTS_BACKENDS_EXPECT_H_
#define WASINN_TESTS_BACKENDS_EXPECT_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// Of the OS process.
inline int CountThreads() {
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}

inline void MustCompute(Context* context) {
  const Result computed = context->Compute();
  ASSERT_TRUE(computed) << computed.message;
}

inline Tensor MustGet(Context* context, uint32_t output) {
  Tensor tensor;
  const Result got = context->Get(output, &tensor);
  EXPECT_TRUE(got) << got.message;
  return tensor;
}

// Cancels again and again, as the core's watchdog does, after a while until it is told to stop.
class Watchdog {
 public:
  Watchdog(Context* context, std::chrono::milliseconds deadline)
      : thread_([this, context, deadline] {
          const auto start = std::chrono::steady_clock::now();
          while (!done_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            if (std::chrono::steady_clock::now() - start > deadline) context->Cancel();
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

struct ElementType {
  const char* name;
  wasinn_dtype dtype;
  size_t size;
};
inline const ElementType kElementTypes[] = {{"f16", WASINN_F16, 2},  {"bf16", WASINN_BF16, 2}, {"f32", WASINN_F32, 4},
                                            {"f64", WASINN_F64, 8},  {"u8", WASINN_U8, 1},     {"i8", WASINN_I8, 1},
                                            {"u16", WASINN_U16, 2},  {"i16", WASINN_I16, 2},   {"u32", WASINN_U32, 4},
                                            {"i32", WASINN_I32, 4},  {"u64", WASINN_U64, 8},   {"i64", WASINN_I64, 8},
                                            {"bool", WASINN_BOOL, 1}};

// A tensor of shape [2, 3] in which every bit of a number may be set; a bool is 0 or 1.
inline Tensor EveryBit(const ElementType& type) {
  Tensor tensor{type.dtype, {2, 3}, ""};
  for (size_t i = 0; i < 6 * type.size; ++i) {
    tensor.bytes += static_cast<char>(type.dtype == WASINN_BOOL ? i % 2 : 0x81 + 37 * i);
  }
  return tensor;
}

// That a model of one input gives it back bit for bit, also in another shape, as the framework called natively did.
inline void ExpectIdentity(const Model& model, const Tensor& in, const std::vector<int64_t>& dims,
                           const std::string& native) {
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(model.input(0).dtype, in.dtype);
  EXPECT_EQ(model.output(0).dtype, in.dtype);
  Context context(model);
  ASSERT_TRUE(context.Set(0, in));
  MustCompute(&context);
  const Tensor out = MustGet(&context, 0);
  EXPECT_EQ(out.dtype, in.dtype);
  EXPECT_EQ(out.dims, dims);
  EXPECT_EQ(out.bytes, in.bytes);
  EXPECT_EQ(out.bytes, native);
}

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_EXPECT_H_
