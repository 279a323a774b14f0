// Backends that keep their contract only nearly: what a context or a load then says, and that nothing is read beyond
// what is there.
#include "core/models/blob.h"
#include "unit/direct_context.h"

namespace wasinn::testing {
namespace {

core::Result<std::shared_ptr<core::Graph>> LoadWith(const wasinn_backend& table) {
  static const core::Logger logger;
  static core::Watchdog dog;
  auto backend = core::Backend::Open(table, logger, 1, "{}");
  if (!backend) return std::unexpected(std::move(backend.error()));
  const std::string text = EchoModel("in x u8 4\n");
  const std::shared_ptr<const core::Blob> blob =
      core::Blob::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return core::Graph::Load(*backend, {&blob, 1}, {.encoding = "ggml"}, dog);
}

using Change = void (*)(wasinn_info& info, wasinn_io& io);

struct Nonsense {
  const char* name;
  Change change;
};

class NonsenseOfModels : public ::testing::TestWithParam<Nonsense> {};

// An input and an output, of which something is wrong.
TEST_P(NonsenseOfModels, IsAnErrorOfTheLoad) {
  static wasinn_info info;
  static wasinn_io io;
  static const wasinn_io* ios[] = {&io};
  static constexpr int64_t kDims[] = {4};
  io = {.struct_size = sizeof io,
        .dtype = WASINN_DTYPE_U8,
        .flags = 0,
        .rank = 1,
        .dims = kDims,
        .name = "x",
        .type_name = ""};
  info = {.struct_size = sizeof info,
          .n_inputs = 1,
          .n_outputs = 1,
          .inputs = ios,
          .outputs = ios,
          .max_parallel = 0,
          .flags = 0};
  GetParam().change(info, io);
  wasinn_backend table = EchoTable();
  table.info = [](wasinn_backend_graph*, const wasinn_info** out) -> wasinn_error* {
    *out = info.struct_size == UINT32_MAX ? nullptr : &info;
    return nullptr;
  };
  const auto graph = LoadWith(table);
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message(), "");
}

const Nonsense kNonsense[] = {
    {"NoInfo", [](wasinn_info& info, wasinn_io&) { info.struct_size = UINT32_MAX; }},
    {"NoSize", [](wasinn_info& info, wasinn_io&) { info.struct_size = 0; }},
    {"NoInputs", [](wasinn_info& info, wasinn_io&) { info.inputs = nullptr; }},
    {"NoOutputs", [](wasinn_info& info, wasinn_io&) { info.outputs = nullptr; }},
    {"NoName", [](wasinn_info&, wasinn_io& io) { io.name = nullptr; }},
    {"NoDims", [](wasinn_info&, wasinn_io& io) { io.dims = nullptr; }},
    {"RankTooLarge", [](wasinn_info&, wasinn_io& io) { io.rank = WASINN_MAX_RANK + 1; }},
    {"RankTooSmall", [](wasinn_info&, wasinn_io& io) { io.rank = INT32_MIN; }},
    {"TooSmallAnIo", [](wasinn_info&, wasinn_io& io) { io.struct_size = 4; }},
};

INSTANTIATE_TEST_SUITE_P(, NonsenseOfModels, ::testing::ValuesIn(kNonsense),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Nonsense, AModelThatIsNotThere) {
  wasinn_backend table = EchoTable();
  table.load = [](wasinn_backend_state*, const wasinn_builder* const*, size_t, const wasinn_load_options*,
                  wasinn_backend_graph**) -> wasinn_error* { return nullptr; };
  table.info = [](wasinn_backend_graph* graph, const wasinn_info** out) -> wasinn_error* {
    EXPECT_NE(graph, nullptr);
    *out = nullptr;
    return nullptr;
  };
  const auto graph = LoadWith(table);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code(), WASINN_ERROR_RUNTIME);
}

TEST(Nonsense, AnErrorWithoutWords) {
  static int released;
  released = 0;
  wasinn_backend table = EchoTable();
  table.load = [](wasinn_backend_state*, const wasinn_builder* const*, size_t, const wasinn_load_options*,
                  wasinn_backend_graph**) {
    static wasinn_error error{sizeof error, 12345, nullptr, [](wasinn_error*) { ++released; }};
    return &error;
  };
  const auto graph = LoadWith(table);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code(), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(released, 1);
}

TEST(Nonsense, AContextThatIsNotThere) {
  wasinn_backend table = EchoTable();
  table.slot_new = [](wasinn_backend_graph*, const wasinn_slot_options*, wasinn_backend_slot**) -> wasinn_error* {
    return nullptr;
  };
  Direct direct("in x u8 4\n", table);
  const auto context = core::Context::Create(
      direct.graph, {}, {direct.bytes, *direct.pool, 1, direct.dog, direct.scheduler, direct.share});
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().code(), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(direct.bytes.used(), 0u);
}

// The backend's view of an output, instead of four bytes.
wasinn_tensor shown;

void ExpectNoOutput(const wasinn_tensor& nonsense, const char* words) {
  shown = nonsense;
  wasinn_backend table = EchoTable();
  table.output = [](wasinn_backend_slot*, uint32_t, wasinn_tensor* view) -> wasinn_error* {
    *view = shown;
    return nullptr;
  };
  table.take_output = nullptr;
  Direct direct("in x u8 -1\n", table);
  {
    auto context = direct.New();
    ASSERT_TRUE(context->SetInput(0, direct.Tensor({1, 2, 3, 4})).ok());
    std::vector<uint8_t> out(64);
    uint64_t size = 0;
    core::Status status = context->Compute(nullptr);
    if (status.ok()) status = context->GetOutput(0, out, size);
    EXPECT_EQ(status.code(), WASINN_ERROR_RUNTIME) << status.message();
    EXPECT_THAT(status.message(), ::testing::HasSubstr(words));
    // Another time it makes sense.
    static constexpr int64_t kDim = 4;
    static uint8_t bytes[4] = {1, 2, 3, 4};
    shown = {
        .struct_size = sizeof shown, .dtype = WASINN_DTYPE_U8, .rank = 1, .dims = &kDim, .data = bytes, .bytes = 4};
    EXPECT_TRUE(context->Compute(nullptr).ok());
    EXPECT_TRUE(context->GetOutput(0, out, size).ok());
    EXPECT_EQ(size, 4u);
  }
  EXPECT_EQ(direct.bytes.used(), 0u);
}

TEST(Nonsense, MemoryOfADeviceThatGivesNothingAway) {
  wasinn_backend table = EchoTable();
  table.take_output = nullptr;
  EXPECT_EQ(Direct("in x u8 4\nmemory npu:0\n", table).graph->memory(), nullptr);
}

TEST(Nonsense, OutputsWhoseShapeOrBytesMakeNoSense) {
  static constexpr int64_t kDims[] = {4, INT64_MAX};
  static uint8_t bytes[4];
  const wasinn_tensor good{.struct_size = sizeof(wasinn_tensor),
                           .dtype = WASINN_DTYPE_U8,
                           .rank = 1,
                           .dims = kDims,
                           .data = bytes,
                           .bytes = 4};
  const struct {
    void (*spoil)(wasinn_tensor&);
    const char* words;
  } kSpoils[] = {{[](wasinn_tensor& it) { it.data = nullptr; }, "shows 4 bytes, which are not there or not what"},
                 {[](wasinn_tensor& it) { it.dims = nullptr; }, "shows a tensor without dimensions"},
                 {[](wasinn_tensor& it) { it.rank = 2; }, "shows 4 bytes"},
                 {[](wasinn_tensor& it) { it.bytes = 3; }, "shows 3 bytes"},
                 {[](wasinn_tensor& it) { it.dtype = WASINN_DTYPE_F64; }, "shows 4 bytes"},
                 {[](wasinn_tensor& it) { it.rank = 33; }, "shows a tensor of 33 dimensions, more than 32"}};
  for (const auto& [spoil, words] : kSpoils) {
    wasinn_tensor bad = good;
    spoil(bad);
    ExpectNoOutput(bad, words);
  }
}

}  // namespace
}  // namespace wasinn::testing
