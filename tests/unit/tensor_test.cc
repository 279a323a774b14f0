#include "core/memory/tensor.h"

#include "base/tensor_bytes.h"
#include "core/words.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

TensorDesc Tensor(uint32_t dtype, const std::vector<int64_t>& dims) {
  TensorDesc tensor;
  tensor.dtype = dtype;
  tensor.rank = static_cast<uint32_t>(dims.size());
  std::ranges::copy(dims, tensor.dims);
  return tensor;
}

// A signature of rank dims.size(), or unknown.
struct Io {
  Io(uint32_t dtype, std::vector<int64_t> shape, uint32_t flags = 0, bool any_rank = false) : dims(std::move(shape)) {
    io.dtype = dtype;
    io.flags = flags;
    io.rank = any_rank ? -1 : static_cast<int32_t>(dims.size());
    io.dims = dims.data();
    io.name = "x";
  }
  std::vector<int64_t> dims;
  wasinn_io io{};
};

wasinn_code CodeOf(const Result<TensorDesc>& result) { return result ? WASINN_OK : result.error().code(); }

TEST(ByteSize, MultipliesWithoutOverflow) {
  EXPECT_EQ(ByteSize(WASINN_DTYPE_F32, std::vector<int64_t>{2, 3}), 24u);
  EXPECT_EQ(ByteSize(WASINN_DTYPE_F32, {}), 4u);
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ByteSize(WASINN_DTYPE_U8, std::vector<int64_t>{huge}), static_cast<uint64_t>(huge));
  EXPECT_EQ(ByteSize(WASINN_DTYPE_F32, std::vector<int64_t>{huge}), std::nullopt);
  EXPECT_EQ(ByteSize(WASINN_DTYPE_U8, std::vector<int64_t>{1LL << 32, 1LL << 32}), std::nullopt);
  EXPECT_EQ(ByteSize(WASINN_DTYPE_U8, std::vector<int64_t>{-1}), std::nullopt);
  EXPECT_EQ(ByteSize(WASINN_DTYPE_U8, std::vector<int64_t>{huge, huge, 0}), 0u);
}

TEST(MatchInput, TakesWhatTheSignatureSays) {
  const Io io(WASINN_DTYPE_F32, {1, -1});
  const auto matched = MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {1, 7}), 28);
  ASSERT_TRUE(matched);
  EXPECT_EQ(matched->dtype, uint32_t{WASINN_DTYPE_F32});
  EXPECT_THAT(matched->shape(), ElementsAre(1, 7));
}

TEST(MatchInput, RefusesOtherTypesShapesAndLengths) {
  const Io io(WASINN_DTYPE_F32, {1, -1});
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_I32, {1, 7}), 28)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {2, 7}), 56)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {7}), 28)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {1, 7}), 27)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {1, 7}), 29)), WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(MatchInput, SaysWhatWasExpectedAndGiven) {
  const Io io(WASINN_DTYPE_F32, {1, -1});
  const auto matched = MatchInput(io.io, Tensor(WASINN_DTYPE_I32, {3}), 12);
  ASSERT_FALSE(matched);
  EXPECT_EQ(matched.error().message(), "input 'x' takes f32 [1, ?], given i32 [3]");
}

TEST(MatchInput, OneElementMatchesAScalar) {
  const Io scalar(WASINN_DTYPE_I64, {});
  EXPECT_EQ(MatchInput(scalar.io, Tensor(WASINN_DTYPE_I64, {1}), 8)->rank, 0u);
  EXPECT_EQ(MatchInput(scalar.io, Tensor(WASINN_DTYPE_I64, {}), 8)->rank, 0u);
  EXPECT_EQ(CodeOf(MatchInput(scalar.io, Tensor(WASINN_DTYPE_I64, {2}), 16)), WASINN_ERROR_INVALID_ARGUMENT);
  const Io one(WASINN_DTYPE_I64, {1});
  EXPECT_EQ(CodeOf(MatchInput(one.io, Tensor(WASINN_DTYPE_I64, {}), 8)), WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(MatchInput, OneRowNeedsNoDimensionBeforeIt) {
  Io tokens(WASINN_DTYPE_I32, {-1, -1});
  EXPECT_EQ(CodeOf(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {3}), 12)), WASINN_ERROR_INVALID_ARGUMENT)
      << "if it says so";
  tokens.io.flags |= WASINN_IO_ROW;
  EXPECT_THAT(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {3}), 12)->shape(), ElementsAre(1, 3));
  EXPECT_THAT(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {1, 3}), 12)->shape(), ElementsAre(1, 3));
  EXPECT_THAT(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {2, 3}), 24)->shape(), ElementsAre(2, 3));
  EXPECT_EQ(CodeOf(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {}), 4)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(MatchInput(tokens.io, Tensor(WASINN_DTYPE_I32, {1, 1, 3}), 12)), WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(MatchInput, UnknownRankAndTypeMatchAnything) {
  const Io io(WASINN_DTYPE_UNKNOWN, {}, 0, true);
  const auto matched = MatchInput(io.io, Tensor(WASINN_DTYPE_F16, {4, 0}), 0);
  ASSERT_TRUE(matched);
  EXPECT_EQ(matched->dtype, uint32_t{WASINN_DTYPE_F16});
  EXPECT_THAT(matched->shape(), ElementsAre(4, 0));
}

// Types that witx has no number for.
TEST(MatchInput, TypesTravelBitForBit) {
  const struct {
    uint32_t model, guest;
  } kSame[] = {{WASINN_DTYPE_I8, WASINN_DTYPE_U8},
               {WASINN_DTYPE_BOOL, WASINN_DTYPE_U8},
               {WASINN_DTYPE_U32, WASINN_DTYPE_I32},
               {WASINN_DTYPE_U64, WASINN_DTYPE_I64}};
  for (const auto& [model, guest] : kSame) {
    const Io io(model, {2, 3});
    const auto matched = MatchInput(io.io, Tensor(guest, {2, 3}), 6 * base::ElementSize(model));
    ASSERT_TRUE(matched) << DtypeName(model);
    EXPECT_EQ(matched->dtype, model);
  }
  for (const uint32_t model : {WASINN_DTYPE_I16, WASINN_DTYPE_U16, WASINN_DTYPE_BF16}) {
    const Io io(model, {2, 3});
    const auto matched = MatchInput(io.io, Tensor(WASINN_DTYPE_U8, {2, 6}), 12);
    ASSERT_TRUE(matched) << DtypeName(model);
    EXPECT_EQ(matched->dtype, model);
    EXPECT_THAT(matched->shape(), ElementsAre(2, 3));
    EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_U8, {2, 5}), 10)), WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_U8, {}), 1)), WASINN_ERROR_INVALID_ARGUMENT);
    const Io scalar(model, {});
    EXPECT_EQ(MatchInput(scalar.io, Tensor(WASINN_DTYPE_U8, {2}), 2)->rank, 0u);
  }
}

TEST(ShowAs, DimensionsWithoutBytesMayBeAnything) {
  for (const int64_t last : {INT64_MAX, INT64_MAX / 2 + 1, int64_t{-1}, INT64_MIN}) {
    TensorDesc tensor;
    tensor.dtype = WASINN_DTYPE_BF16;
    tensor.rank = 2;
    tensor.dims[0] = 0;
    tensor.dims[1] = last;
    const TensorDesc shown = ShowAs(tensor, [](uint32_t) { return false; });
    EXPECT_EQ(shown.dims[1], last == -1 ? -2 : INT64_MAX);
  }
}

TEST(MatchInput, OtherPairsOfTypesDoNotMatch) {
  for (uint32_t model = WASINN_DTYPE_F16; model <= WASINN_DTYPE_BOOL; ++model) {
    for (const uint32_t guest :
         {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64, WASINN_DTYPE_I32, WASINN_DTYPE_I64}) {
      if (model == guest || (model == WASINN_DTYPE_U32 && guest == WASINN_DTYPE_I32) ||
          (model == WASINN_DTYPE_U64 && guest == WASINN_DTYPE_I64)) {
        continue;
      }
      const Io io(model, {8});
      EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(guest, {8}), 8 * base::ElementSize(guest))),
                WASINN_ERROR_INVALID_ARGUMENT)
          << DtypeName(model) << " from " << DtypeName(guest);
    }
  }
}

TEST(MatchInput, OpaqueTakesBytesOfAnyLength) {
  const Io io(WASINN_DTYPE_U8, {7}, WASINN_IO_OPAQUE);
  const auto matched = MatchInput(io.io, Tensor(WASINN_DTYPE_U8, {1}), 12);
  ASSERT_TRUE(matched);
  EXPECT_THAT(matched->shape(), ElementsAre(12));
  EXPECT_EQ(CodeOf(MatchInput(io.io, Tensor(WASINN_DTYPE_F32, {3}), 12)), WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(Words, ParseIgnoresCaseAndListsWhatIsKnown) {
  EXPECT_EQ(*ParseTarget("Gpu"), WASINN_TARGET_GPU);
  const auto unknown = ParseTarget("gpuu");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(std::string(unknown.error().message()), HasSubstr("auto"));
}

}  // namespace
}  // namespace wasinn::core
