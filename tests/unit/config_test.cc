#include "core/host/config.h"

#include "support/files.h"

namespace wasinn::core {
namespace {

std::string ErrorOf(const std::string& text) {
  Config config;
  return std::string(config.LoadText(text).message());
}

TEST(Config, DefaultsAreSafe) {
  const auto options = Config().ToHostOptions();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->backends.threads, 1u);
  EXPECT_EQ(options->limits.max_graphs, 64u);
  EXPECT_EQ(options->limits.compute_timeout_ms, 30'000u);
  EXPECT_EQ(options->policy.load, WASINN_LOAD_ISOLATED);
  EXPECT_FALSE(options->policy.cpu_fallback);
  EXPECT_FALSE(options->policy.isolated_gpu);
}

TEST(Config, ReadsEverySection) {
  Config config;
  const Status status = config.LoadText(R"(
threads = 3
model_dirs = ["/models"]
[limits]
max_graphs = 5
max_tensor_bytes = 5000000000
[policy]
load = "deny"
encodings = ["onnx", "GGUF"]
models = ["a", "b"]
[log]
level = "debug"
[models.digits]
path = "/m/digits.onnx"
target = "gpu"
version = 4
immutable = true
[models.digits.config]
optimization = "off"
[backends.onnx]
threads = 2
)");
  ASSERT_TRUE(status.ok()) << status.message();
  const auto options = config.ToHostOptions();
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->backends.threads, 3u);
  EXPECT_THAT(options->model_dirs, ElementsAre("/models"));
  EXPECT_EQ(options->limits.max_graphs, 5u);
  EXPECT_EQ(options->limits.max_tensor_bytes, 5'000'000'000u);
  EXPECT_EQ(options->policy.load, WASINN_LOAD_DENY);
  EXPECT_THAT(options->policy.encodings, Optional(ElementsAre("onnx", "ggml")));
  EXPECT_THAT(options->policy.models, Optional(ElementsAre("a", "b")));
  EXPECT_EQ(options->log_level, WASINN_LOG_DEBUG);
  ASSERT_EQ(options->models.size(), 1u);
  const ModelOptions& model = options->models[0];
  EXPECT_EQ(model.name, "digits");
  EXPECT_EQ(model.path, "/m/digits.onnx");
  EXPECT_EQ(model.target, WASINN_TARGET_GPU);
  EXPECT_EQ(model.version, 4u);
  EXPECT_TRUE(model.immutable);
  EXPECT_THAT(model.config, HasSubstr("\"optimization\""));
  EXPECT_THAT(options->backends.configs.at("onnx"), HasSubstr("\"threads\""));
}

TEST(Config, LaterValuesWin) {
  Config config;
  ASSERT_TRUE(config.LoadText("limits.max_graphs = 5\nlimits.max_contexts = 6\n").ok());
  ASSERT_TRUE(config.Set("limits.max_graphs", "7").ok());
  const auto options = config.ToHostOptions();
  EXPECT_EQ(options->limits.max_graphs, 7u);
  EXPECT_EQ(options->limits.max_contexts, 6u);
}

TEST(Config, ZeroThreadsAreAllCores) {
  Config config;
  ASSERT_TRUE(config.Set("threads", "0").ok());
  EXPECT_EQ(config.ToHostOptions()->backends.threads, std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Config, ThreadsAreNoMoreThanFrameworksStart) {
  constexpr const char* kMessage = "configuration key 'threads' must be an integer from 0 to 512";
  EXPECT_EQ(ErrorOf("threads = 512\n"), "");
  EXPECT_THAT(ErrorOf("threads = 513\n"), HasSubstr(kMessage));
  EXPECT_EQ(Config().Set("threads", "100000").message(), kMessage);
  EXPECT_EQ(ErrorOf("call_threads = 4096\n"), "");
  EXPECT_THAT(ErrorOf("call_threads = 4097\n"), HasSubstr("'call_threads' must be an integer from 0 to 4096"));
}

TEST(Config, SetTakesTomlValuesAndPlainWords) {
  Config config;
  EXPECT_TRUE(config.Set("log.level", "info").ok());
  EXPECT_TRUE(config.Set("policy.load", "deny").ok());
  EXPECT_TRUE(config.Set("policy.models", "['a', 'b']").ok());
  EXPECT_TRUE(config.Set("models.\"with.dots\".path", "/a \"quoted\" path").ok());
  EXPECT_FALSE(config.Set("limits.max_graphs", "many").ok());
  EXPECT_FALSE(config.Set("limits.max_graphs", "1\nthreads = 4").ok());
  const auto options = config.ToHostOptions();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->log_level, WASINN_LOG_INFO);
  EXPECT_EQ(options->policy.load, WASINN_LOAD_DENY);
  EXPECT_EQ(options->models.at(0).name, "with.dots");
  EXPECT_EQ(options->models.at(0).path, "/a \"quoted\" path");
}

TEST(Config, UnknownKeysNameTheNearest) {
  EXPECT_THAT(ErrorOf("[limit]\n"), HasSubstr("unknown configuration key 'limit'; did you mean 'limits'?"));
  EXPECT_THAT(ErrorOf("[limits]\nmax_graph = 1\n"), HasSubstr("'limits.max_graph'; did you mean 'max_graphs'?"));
  EXPECT_THAT(ErrorOf("[models.m]\npaht = ''\n"), HasSubstr("'models.m.paht'; did you mean 'path'?"));
  EXPECT_THAT(ErrorOf("[limits]\nmax_compile_bytes = 1\n"),
              HasSubstr("'limits.max_compile_bytes'; did you mean 'engine.max_compile_bytes'?"));
  EXPECT_THAT(ErrorOf("isolated_gpu = true\n"), HasSubstr("did you mean 'policy.isolated_gpu'?"));
}

TEST(Config, WrongTypesAndSyntaxAreNamed) {
  EXPECT_THAT(ErrorOf("[limits]\nmax_graphs = 'many'\n"), HasSubstr("'limits.max_graphs' must be an integer"));
  EXPECT_THAT(ErrorOf("[limits]\nmax_graphs = -1\n"), HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(ErrorOf("limits = 3\n"), HasSubstr("must be a table"));
  EXPECT_THAT(ErrorOf("threads = \n"), HasSubstr("configuration:1:"));
  EXPECT_THAT(ErrorOf("model_dirs = [1]\n"), HasSubstr("an array of paths"));
}

TEST(Config, WrongWordsAndNumbersAreNamedWithTheirKeysWhenTheyComeIn) {
  EXPECT_THAT(ErrorOf("[policy]\ndialect = 'klingon'\n"), HasSubstr("'policy.dialect': unknown dialect 'klingon'"));
  EXPECT_THAT(ErrorOf("[log]\nlevel = 'loud'\n"), HasSubstr("'log.level': unknown log level 'loud'; known are error,"));
  EXPECT_THAT(ErrorOf("[models.m]\ntarget = 'moon'\n"), HasSubstr("'models.m.target': unknown target 'moon'"));
  EXPECT_THAT(ErrorOf("[limits]\nmax_graphs = 5000000000\n"),
              HasSubstr("'limits.max_graphs' must be an integer from 0 to 4294967295"));
  EXPECT_EQ(Config().Set("policy.dialect", "klingon").message(),
            "configuration key 'policy.dialect': unknown dialect 'klingon'; known are witx, wasmedge, wamr, witx-0.1");
  EXPECT_THAT(Config().Set("limits.max_graphs", "many").message(), HasSubstr("'limits.max_graphs' must be an integer"));
  EXPECT_EQ(Config().Set("not a key", "1").message(), "'not a key' is not a configuration key");
}

TEST(Config, NoNameAndNoValueHasANul) {
  constexpr const char* kValue = "has a NUL character in its value";
  EXPECT_THAT(ErrorOf("[models.\"c\\u0000d\"]\npath = 'm.onnx'\n"),
              HasSubstr("the name of configuration key 'models.c\\x00d' has a NUL character"));
  EXPECT_THAT(ErrorOf("[models.m]\npath = \"m\\u0000.onnx\"\n"),
              AllOf(HasSubstr("'models.m.path'"), HasSubstr(kValue)));
  EXPECT_THAT(ErrorOf("[policy]\nmodels = ['a', \"b\\u0000\"]\n"),
              AllOf(HasSubstr("'policy.models'"), HasSubstr(kValue)));
  EXPECT_THAT(ErrorOf("[backends.echo]\nanything = { deep = \"\\u0000\" }\n"),
              AllOf(HasSubstr("'backends.echo.anything.deep'"), HasSubstr(kValue)));
  EXPECT_THAT(Config().Set("models.\"a\\u0000\".path", "m.onnx").message(), HasSubstr("'models.a\\x00' has a NUL"));
}

TEST(Config, AModelSaysWhetherItIsIsolatedOrNot) {
  Config config;
  ASSERT_TRUE(config.LoadText("[models.m]\npath = 'm.onnx'\n").ok());
  EXPECT_FALSE(config.ToHostOptions()->isolate_models);
  EXPECT_EQ(config.ToHostOptions()->models.at(0).isolate, std::nullopt);
  ASSERT_TRUE(config.Set("isolate_models", "true").ok());
  EXPECT_TRUE(config.ToHostOptions()->isolate_models);
  for (const bool isolate : {false, true}) {
    ASSERT_TRUE(config.Set("models.m.isolate", isolate ? "true" : "false").ok());
    EXPECT_THAT(config.ToHostOptions()->models.at(0).isolate, Optional(isolate));
  }
}

TEST(Config, AWarmUpHasACountAndShapes) {
  Config config;
  ASSERT_TRUE(
      config.LoadText("[models.m]\npath = 'm.onnx'\nwarm_up = 1000\nwarm_up_shapes = {x = [1, 224], y = []}\n").ok());
  const auto options = config.ToHostOptions();
  EXPECT_EQ(options->models.at(0).warm_up.computes, 1000u);
  EXPECT_THAT(options->models.at(0).warm_up.shapes,
              ElementsAre(Pair("x", ElementsAre(1u, 224u)), Pair("y", ElementsAre())));
  EXPECT_THAT(ErrorOf("[models.m]\nwarm_up = 1001\n"),
              HasSubstr("configuration key 'models.m.warm_up' must be an integer from 0 to 1000"));
  for (const char* shape : {"3", "[-1]", "['a']", "[4294967296]", "[[1]]"}) {
    EXPECT_THAT(ErrorOf(std::string("[models.m.warm_up_shapes]\nx = ") + shape + "\n"),
                HasSubstr("configuration key 'models.m.warm_up_shapes.x' must be a shape"))
        << shape;
  }
}

TEST(Config, AGuestsWeightIsBounded) {
  Config config;
  ASSERT_TRUE(config.Set("policy.weight", "1000").ok());
  EXPECT_EQ(config.ToHostOptions()->policy.weight, 1000u);
  for (const char* weight : {"0", "1001", "'heavy'"}) {
    EXPECT_THAT(ErrorOf(std::string("policy.weight = ") + weight + "\n"),
                HasSubstr("configuration key 'policy.weight' must be an integer from 1 to 1000"));
  }
}

TEST(Config, AModelNeedsAPath) {
  Config config;
  ASSERT_TRUE(config.LoadText("[models.m]\ntarget = 'cpu'\n").ok());
  EXPECT_THAT(config.ToHostOptions().error().message(), HasSubstr("'models.m.path' is missing"));
}

TEST(Config, AnEmptyPathIsNone) {
  Config config;
  ASSERT_TRUE(config.LoadText("workers_cgroup = '/groups/a'\nworker = '/opt/worker'\n[models.m]\npath = ''\n").ok());
  EXPECT_THAT(config.ToHostOptions().error().message(), HasSubstr("'models.m.path' is missing"));
  ASSERT_TRUE(config.Set("models.m.path", "m.onnx").ok());
  for (const char* key : {"workers_cgroup", "worker"}) ASSERT_TRUE(config.Set(key, "").ok());
  EXPECT_EQ(config.ToHostOptions()->backends.workers_cgroup, "");
  EXPECT_FALSE(config.ToHostOptions()->backends.names_worker);
  EXPECT_EQ(config.ToHostOptions()->backends.worker, Config().ToHostOptions()->backends.worker) << "the usual one";
}

TEST(Config, PathsOfAFileAreRelativeToIt) {
  const testing::TestFolder folder;
  const std::string file =
      folder.Write("wasinn.toml", "model_dirs = ['models', '/abs']\n[models.m]\npath = '../m.onnx'\n");
  Config config;
  ASSERT_TRUE(config.LoadFile(file).ok());
  const auto options = config.ToHostOptions();
  EXPECT_THAT(options->model_dirs, ElementsAre(folder / "models", "/abs"));
  EXPECT_EQ(options->models.at(0).path, folder.path().parent_path() / "m.onnx");
  EXPECT_EQ(config.LoadFile(folder / "nothing.toml").code(), WASINN_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace wasinn::core
