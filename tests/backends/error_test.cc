#include "common/error.h"

#include <new>

#include "common/abi.h"
#include "common/aligned_buffer.h"
#include "support/test.h"

namespace wasinn::backend {
namespace {

struct Seen {
  wasinn_code code;
  std::string message;
};

template <typename Function>
Seen Guarded(Function function) {
  wasinn_error* error = Guard(function);
  if (error == nullptr) return {WASINN_OK, ""};
  Seen seen{static_cast<wasinn_code>(error->code), error->message};
  EXPECT_EQ(error->struct_size, sizeof(wasinn_error));
  error->release(error);
  return seen;
}

TEST(Guard, TurnsWhatIsThrownIntoAnError) {
  EXPECT_EQ(Guarded([] {}).code, WASINN_OK);
  const Seen ours = Guarded([] { throw Error(WASINN_ERROR_NOT_FOUND, "no such thing"); });
  EXPECT_EQ(ours.code, WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(ours.message, "no such thing");
  EXPECT_EQ(Guarded([] { throw std::runtime_error("broken"); }).code, WASINN_ERROR_RUNTIME);
  EXPECT_EQ(Guarded([] { throw std::bad_alloc(); }).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(Guarded([] { throw 1; }).code, WASINN_ERROR_RUNTIME);
}

TEST(ReadStruct, TakesAbsentFieldsAsZero) {
  wasinn_load_options newer = {.struct_size = offsetof(wasinn_load_options, cpu_fallback),
                               .target = WASINN_TARGET_GPU,
                               .format = "onnx",
                               .host_config = "{}",
                               .guest_config = "{}",
                               .cpu_fallback = 1};
  const wasinn_load_options read = ReadStruct(&newer);
  EXPECT_EQ(read.target, WASINN_TARGET_GPU);
  EXPECT_EQ(read.cpu_fallback, 0);
}

TEST(AlignedBuffer, RefusesSizesThatAreNone) {
  EXPECT_THROW(AlignedBuffer(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(AlignedBuffer(SIZE_MAX - 127), std::bad_alloc);
  const AlignedBuffer empty(0);
  EXPECT_NE(empty.data(), nullptr);
  const AlignedBuffer odd(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(odd.data()) % kBufferAlignment, 0u);
}

}  // namespace
}  // namespace wasinn::backend
