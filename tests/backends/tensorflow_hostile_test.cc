// Models of attackers.
#include "backends/expect.h"
#include "backends/tensorflow_writer.h"

namespace wasinn::test {
namespace {

const LoadOptions kGuest = {.encoding = "tensorflow"};

LoadOptions Trusted(const std::string& config = "{}") {
  return {.encoding = "tensorflow", .path = ModelPath("any.pb"), .host_config = config};
}

class TensorFlowForbidden : public ::testing::TestWithParam<const char*> {};

// Directly, in a function that is called, in one that a node names, in one that is not named.
TEST_P(TensorFlowForbidden, IsRefusedWhereverItStands) {
  const Host host;
  const std::string op = GetParam();
  for (const std::string& bytes :
       {TfGraph({TfNode("bad", op)}), TfGraph({TfNode("y", "f")}, {TfFunction("f", {TfNode("bad", op)})}),
        TfGraph({TfNode("y", "PartitionedCall", {}, FunctionAttribute("f", "g"))},
                {TfFunction("g", {TfNode("bad", op)})}),
        TfGraph({TfNode("y", "Identity", {"x"}, TypeAttribute("T", 1))}, {TfFunction("h", {TfNode("bad", op)})})}) {
    const Model model(host, bytes, kGuest);
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY) << model.loaded().message;
    EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("'bad'"), HasSubstr(op)));
    const Model trusted(host, bytes, Trusted());
    EXPECT_EQ(trusted.loaded().code, WASINN_ERROR_SECURITY) << trusted.loaded().message;
    EXPECT_THAT(trusted.loaded().message, AllOf(HasSubstr(op), HasSubstr("allow_file_ops")));
    LoadOptions greedy = kGuest;
    greedy.host_config = R"({"allow_file_ops": true})";
    EXPECT_EQ(Model(host, bytes, greedy).loaded().code, WASINN_ERROR_SECURITY) << "never for a guest's bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Some, TensorFlowForbidden,
    ::testing::Values("ReadFile", "WriteFile", "MatchingFiles", "Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2",
                      "MergeV2Checkpoints", "LoadAndRemapMatrix", "GenerateVocabRemapping", "ImmutableConst",
                      "WholeFileReaderV2", "TextLineReaderV2", "TFRecordReader", "LMDBReader", "IdentityReaderV2",
                      "TextLineDataset", "TFRecordDatasetV2", "CSVDataset", "SqlDataset", "CacheDatasetV2",
                      "SnapshotDatasetV2", "SaveDatasetV2", "LoadDataset", "ListSnapshotChunksDataset",
                      "DataServiceDatasetV4", "PyFunc", "PyFuncStateless", "EagerPyFunc", "Print", "PrintV2",
                      "DumpTensor", "Abort", "Copy", "DebugIdentityV3", "DebugNumericSummaryV2", "RpcCall",
                      "RpcServerStart", "CollectiveReduceV2", "NcclAllReduce", "Send", "Recv", "RemoteCall",
                      "DecodeProtoV2", "EncodeProto", "InitializeTableFromTextFileV2", "CreateSummaryFileWriter",
                      "XlaCustomCallV2", "MlirPassthroughOp", "FileSystemSetConfiguration", "ConfigureDistributedTPU"),
    [](const auto& op) { return std::string(op.param); });

TEST(TensorFlowHostile, UnknownOperationsAreNamed) {
  const Host host;
  const Model model(host, TfGraph({TfNode("bad", "NoSuchOp")}), kGuest);
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(model.loaded().message, HasSubstr("NoSuchOp"));
}

// A host may allow files to its own model, which then has what it asks for.
TEST(TensorFlowHostile, FilesAreReadWhereTheHostAllowsIt) {
  const Host host;
  const std::string path = ModelPath("vocabulary/saved_model.pb"), bytes = ReadFile(path);
  LoadOptions options = {.encoding = "tensorflow", .path = path};
  const Model refused(host, bytes, options);
  EXPECT_EQ(refused.loaded().code, WASINN_ERROR_SECURITY);
  EXPECT_THAT(refused.loaded().message, HasSubstr("InitializeTableFromTextFileV2"));
  options.guest_config = R"({"allow_file_ops": true})";  // the core would refuse the key
  EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_ERROR_SECURITY);
  options.host_config = R"({"allow_file_ops": true})";
  const LoadedModel allowed(host, bytes, options);
  Context context(allowed);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {3}, {0, 1, 2})));
  MustCompute(&context);
  const Tensor lengths = MustGet(&context);
  EXPECT_THAT(lengths.As<int32_t>(), ElementsAre(3, 5, 4));
}

TEST(TensorFlowHostile, ConstantsThatGrowAreCounted) {
  const Host host;
  const auto with = [&](const std::vector<uint64_t>& dims, uint64_t max_bytes) {
    LoadOptions options = kGuest;
    options.max_bytes = max_bytes;
    const std::string constant =
        TfNode("y", "Const", {}, TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor(dims))));
    const Model model(host, TfGraph({constant}), options);
    return model.loaded();
  };
  EXPECT_TRUE(with({1000, 1000}, 8 << 20));
  EXPECT_EQ(with({1 << 20, 1 << 10}, 8 << 20).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(with({1 << 30, 1 << 30, 1 << 30}, 8 << 20).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(with({~uint64_t{0}}, 8 << 20).code, WASINN_ERROR_TOO_LARGE);  // a negative size
  // Without a limit TensorFlow itself finds the shape wrong.
  EXPECT_FALSE(with({1 << 30, 1 << 30, 1 << 30}, 0));
  EXPECT_FALSE(with({~uint64_t{0}}, 0));
}

// … and their guest pays for them, as long as it has the model.
TEST(TensorFlowHostile, ConstantsThatGrowAreCharged) {
  constexpr uint64_t kGrown = 16 << 20;
  const Host host;
  const std::string constant =
      TfNode("y", "Const", {},
             TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor({kGrown / sizeof(float)}))));
  Account account = {.limit = 2 * kGrown};
  LoadOptions options = kGuest;
  options.max_bytes = 64 << 20;
  options.account = &account;
  {
    const LoadedModel one(host, TfGraph({constant}), options);
    EXPECT_GE(account.used, kGrown);
    const Model other(host, TfGraph({constant}), options);
    EXPECT_EQ(other.loaded().code, WASINN_ERROR_TOO_LARGE) << other.loaded().message;
  }
  EXPECT_EQ(account.used, 0u);
  // One that has its values is what its bytes are.
  account.limit = 0;
  const std::string shape = BytesField(2, BytesField(2, NumberField(1, 1 << 20)));
  const std::string values = NumberField(1, 1) + shape + BytesField(4, std::string(4 << 20, '\1'));
  const Model whole(
      host, TfGraph({TfNode("y", "Const", {}, TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, values)))}),
      options);
  EXPECT_TRUE(whole.loaded()) << whole.loaded().message;
}

TEST(TensorFlowHostile, NestingIsBounded) {
  const Host host;
  std::string value = NumberField(3, 1);
  for (int i = 0; i < 100000 / 20; ++i) {
    value = BytesField(10, BytesField(1, "f") + BytesField(2, BytesField(1, "a") + BytesField(2, value)));
  }
  const Model model(host, TfGraph({TfNode("y", "NoOp", {}, Attribute("a", value))}), kGuest);
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ENCODING);
}

// … nor are they computed when the graph is loaded, where they are large. In a compute they are.
TEST(TensorFlowHostile, ConstantsThatOperationsMakeAreNotKept) {
  constexpr int32_t kElements = 16 << 20;
  const Host host;
  const std::string of_floats = TypeAttribute("T", 1);
  std::vector<std::string> nodes = {
      TfNode("one", "Const", {}, TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor({}))))};
  nodes.push_back(TfIntegers("begin", {0}));
  nodes.push_back(TfIntegers("size", {1}));
  std::string last = "x";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    nodes.push_back(TfIntegers("shape" + n, {kElements + i}));
    nodes.push_back(TfNode("c" + n, "Fill", {"shape" + n, "one"}, of_floats + TypeAttribute("index_type", 3)));
    nodes.push_back(TfNode("m" + n, "Mul", {"c" + n, "x"}, of_floats));
    nodes.push_back(TfNode("s" + n, "Slice", {"m" + n, "begin", "size"}, of_floats + TypeAttribute("Index", 3)));
    nodes.push_back(TfNode("a" + n, "AddV2", {last, "s" + n}, of_floats));
    last = "a" + n;
  }
  LoadOptions options = kGuest;
  options.max_bytes = 1 << 20;
  const uint64_t before = AllocatedBytes();
  const LoadedModel model(host, TfGraph(nodes), options);
  EXPECT_LT(AllocatedBytes(), before + kElements);
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {3})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(15));
  EXPECT_LT(AllocatedBytes(), before + kElements);
}

// TensorFlow's slice is a view that keeps all of what it is a part of: a context that holds such an output must not.
TEST(TensorFlowHostile, AnOutputThatIsAPartOfMoreKeepsNoMore) {
  constexpr uint64_t kWhole = 16 << 20;
  const Host host;
  const std::string of_floats = TypeAttribute("T", 1);
  const std::string slice = TfNode("part", "Slice", {"whole", "begin", "size"}, of_floats + TypeAttribute("Index", 3));
  const std::vector<std::string> whole = {
      TfIntegers("shape", {kWhole / sizeof(float)}),
      TfIntegers("begin", {0}),
      TfIntegers("size", {16}),
      TfNode("spread", "BroadcastTo", {"x", "shape"}, of_floats + TypeAttribute("Tidx", 3)),
      TfNode("whole", "Exp", {"spread"}, of_floats),
      slice};
  for (const char* last : {"Identity", "Exp"}) {
    std::vector<std::string> nodes = whole;
    nodes.push_back(TfNode("y", last, {"part"}, of_floats));
    const LoadedModel model(host, TfGraph(nodes), kGuest);
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats({1}, {0})));
    MustCompute(&context);
    host.table().discard_outputs(context.get());
    const uint64_t before = AllocatedBytes();
    MustCompute(&context);
    EXPECT_LT(AllocatedBytes(), before + kWhole / 2) << last;
    EXPECT_EQ(MustGet(&context, 0).As<float>().size(), 16u);
    wasinn_tensor taken = {.struct_size = sizeof(taken)};
    ASSERT_TRUE(TakeError(host.table().take_output(context.get(), 0, &taken)));
    EXPECT_LT(AllocatedBytes(), before + kWhole / 2) << last;
    taken.release(taken.owner);
  }
}

// A context's memory for the next run is freed if no output is charged.
TEST(TensorFlowHostile, NoOutputKeepsNothing) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  const LoadedModel model(host, TfGraph({TfNode("y", "Exp", {"x"}, TypeAttribute("T", 1))}), kGuest);
  Context context(model, 9 * kMiB);
  const auto compute = [&](size_t n) {
    EXPECT_TRUE(context.Set(0, Floats({static_cast<int64_t>(n)}, std::vector<float>(n))));
    return context.Compute();
  };
  ASSERT_TRUE(compute(1));
  const uint64_t before = AllocatedBytes();
  ASSERT_TRUE(compute(2 * kMiB));
  EXPECT_GE(AllocatedBytes(), before + 15 * kMiB);  // with the input
  EXPECT_EQ(compute(3 * kMiB).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_LT(AllocatedBytes(), before + 13 * kMiB);
}

}  // namespace
}  // namespace wasinn::test
