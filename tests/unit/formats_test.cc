// Formats that the core does not know: all of them comes from a backend's table. The template (backends/template) serves
// "affine": y = a * x + b.
#include <fmt/format.h>
#include <wasinn/backend.h>

#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// A model of n elements; 0: of any shape.
std::string Affine(float a, float b, uint32_t n = 0) {
  std::string model = "AFF1";
  model.append(reinterpret_cast<const char*>(&a), sizeof a);
  model.append(reinterpret_cast<const char*>(&b), sizeof b);
  return model.append(reinterpret_cast<const char*>(&n), sizeof n);
}

std::string MessageOf(wasinn_status* status) {
  const StatusPtr owned(status);
  return wasinn_status_message(status);
}

class FormatsTest : public ::testing::Test {
 protected:
  // With the template alone, or with `absent`, `broken` and `second`.
  void Make(const std::string& toml = "", const std::string& folder = InThisBuild("lib/wasinn-template")) {
    host_ = EchoHost(log_, toml, folder);
    program_ = EchoProgram(host_.get());
  }
  void Write(const std::string& path, const std::string& bytes) { folder_.Write(path, bytes); }
  wasinn_status* Add(const char* name, const std::string& path, const char* encoding = nullptr,
                     const char* backend = nullptr) {
    const std::string full = folder_ / path;
    const wasinn_model_options options{
        .struct_size = sizeof(options), .path = full.c_str(), .encoding = encoding, .backend = backend};
    return wasinn_host_add_model(host_.get(), name, &options);
  }
  uint32_t LoadAs(const std::string& bytes, const std::string& format, uint32_t& graph, uint32_t target = 0) {
    const uint32_t builders =
        program_.PutAll(std::vector<uint32_t>{program_.Put(bytes), static_cast<uint32_t>(bytes.size())});
    const uint32_t out = program_.Reserve(4);
    const uint32_t error =
        program_.Call("wasinn_ext_0.load_as", {builders, 1, program_.Put(format), format.size(), target, out});
    graph = program_.Read<uint32_t>(out);
    return error;
  }
  // y = 2x + 0.5 at {1, -2}.
  void ExpectComputes(uint32_t graph) {
    uint32_t context = 0;
    ASSERT_EQ(program_.InitContext(graph, context), kSuccess);
    EXPECT_THAT(program_.Infer(context, {1.f, -2.f}), ::testing::ElementsAre(2.5f, -3.5f));
  }
  void ExpectModelComputes(const char* name) {
    uint32_t graph = 0;
    ASSERT_EQ(program_.LoadByName(name, graph), kSuccess) << name << ": " << log_.Last();
    ExpectComputes(graph);
  }
  const TestFolder folder_;
  const std::string model_ = Affine(2.f, 0.5f);
  Log log_;
  HostPtr host_;
  EchoProgram program_{GuestPtr()};
};

TEST_F(FormatsTest, AGuestNamesOneOrLeavesItToTheBytes) {
  Make();
  uint32_t graph = 0;
  for (const char* format : {"affine", "AFFINE", "autodetect", ""}) {
    ASSERT_EQ(LoadAs(model_, format, graph), kSuccess) << format;
    ExpectComputes(graph);
  }
  ASSERT_EQ(program_.LoadBytes(model_, 5, graph), kSuccess) << "autodetect, by its number";
  ExpectComputes(graph);
  ASSERT_EQ(LoadAs(Affine(2.f, 0.5f, 2), "", graph), kSuccess) << "whose output is bound";
  ExpectComputes(graph);
  ASSERT_EQ(LoadAs(EchoModel("in x f32 2\n"), "gguf", graph), kSuccess) << "one of wasi-nn's";
}

TEST_F(FormatsTest, AGuestsMistakesAreNamed) {
  Make();
  uint32_t graph = 0;
  EXPECT_EQ(LoadAs(model_, "afine", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("unknown encoding 'afine'; known are onnx, openvino,"));
  EXPECT_THAT(log_.Last(), HasSubstr("affine"));
  EXPECT_EQ(LoadAs(model_, "onnx", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("the bytes are a model of encoding affine, not onnx"));
  EXPECT_EQ(LoadAs(EchoModel(""), "affine", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("the bytes are a model of encoding ggml, not affine"));
  EXPECT_EQ(LoadAs("AFF1 too long for one", "affine", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("expected AFF1 and 12 bytes"));
  EXPECT_EQ(LoadAs("neither fish nor fowl", "", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("recognises: known are onnx, openvino,"));
  for (const char* format : {"", "tflite", "gguf"}) {
    EXPECT_EQ(LoadAs("LITERTLM\1", format, graph), kInvalidEncoding);
    EXPECT_THAT(log_.Last(), HasSubstr("the bytes are a bundle of LiteRT-LM (.litertlm)")) << format;
  }
  EXPECT_EQ(LoadAs("\x89HDF\r\n\x1a\n", "", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("the bytes are HDF5"));
  EXPECT_EQ(LoadAs(std::string("\x40\1\0\0\0\0\0\0{\"w\":", 13), "", graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("the bytes are safetensors"));
  EXPECT_EQ(LoadAs(model_, "affine", graph, 9), kInvalidArgument) << "no target";
  EXPECT_EQ(LoadAs(model_, std::string(2000, 'a'), graph), kTooLarge);
  EXPECT_EQ(program_.Call("wasinn_ext_0.load_as", {0, 0, 0xffffff00, 6, 0, program_.Reserve(4)}), kInvalidArgument);
  EXPECT_EQ(program_.Call("wasinn_ext_0.load_as", {0, 0, program_.Put("affine"), 6, 0, 0xffffff00}), kInvalidArgument);
  ASSERT_EQ(LoadAs(model_, "affine", graph), kSuccess);
  ExpectComputes(graph);
}

TEST_F(FormatsTest, FilesAndFoldersOfAnyEnding) {
  Make();
  Write("one.affine", model_);
  Write("unmarked.bin", model_);
  Write("a/model.affine", model_);
  Write("b/3/model.affine", model_);
  Write("c/readme.txt", "");
  for (const char* path : {"one.affine", "unmarked.bin", "a", "b"}) {
    EXPECT_EQ(MessageOf(Add(path, path)), "") << path;
    ExpectModelComputes(path);
  }
  ExpectModelComputes("b:3");
  EXPECT_EQ(MessageOf(Add("named", "unmarked.bin", "Affine")), "");
  ExpectModelComputes("named");
  Make();
  EXPECT_EQ(MessageOf(wasinn_host_add_models(host_.get(), folder_.path().c_str())), "");
  ExpectModelComputes("a");
  ExpectModelComputes("b:3");
  uint32_t graph = 0;
  EXPECT_EQ(program_.LoadByName("c", graph), kNotFound);
}

TEST_F(FormatsTest, AHostsMistakesAreNamed) {
  Make();
  Write("one.affine", model_);
  EXPECT_THAT(MessageOf(Add("m", "one.affine", "onxx")), HasSubstr("model 'm': unknown encoding 'onxx'; known are"));
  EXPECT_THAT(MessageOf(wasinn_host_check_encoding(host_.get(), "onxx")), HasSubstr("affine"));
  for (const char* word : {"affine", "ONNX", "tflite", "gguf", "autodetect", ""}) {
    EXPECT_EQ(MessageOf(wasinn_host_check_encoding(host_.get(), word)), "") << word;
  }
  const ConfigPtr config(wasinn_config_new());
  StatusPtr set(wasinn_config_load_toml(config.get(), "policy.encodings = ['onnx', 'onxx']\n"));
  ASSERT_EQ(set, nullptr);
  wasinn_host* none = nullptr;
  EXPECT_THAT(MessageOf(wasinn_host_new(config.get(), nullptr, nullptr, &none)),
              HasSubstr("configuration key 'policy.encodings': unknown encoding 'onxx'; known are"));
}

TEST_F(FormatsTest, AModelsFormatIsReported) {
  Make();
  Write("one.affine", model_);
  Write("unmarked.bin", model_);
  ASSERT_EQ(MessageOf(Add("a", "one.affine")), "");
  ASSERT_EQ(MessageOf(Add("b", "unmarked.bin")), "");
  const auto reported = [&] {
    std::string all;
    wasinn_host_models(
        host_.get(),
        [](void* user, const wasinn_model_info* info) {
          *static_cast<std::string*>(user) += info->encoding + std::string(",");
        },
        &all);
    return all;
  };
  EXPECT_EQ(reported(), "affine,,");
  ExpectModelComputes("b");
  EXPECT_EQ(reported(), "affine,affine,");
}

TEST_F(FormatsTest, ThePolicyAllowsThemByName) {
  Make("policy.encodings = ['affine']\n");
  uint32_t graph = 0;
  EXPECT_EQ(LoadAs(model_, "affine", graph), kSuccess);
  EXPECT_EQ(LoadAs(model_, "", graph), kSuccess);
  EXPECT_EQ(LoadAs(EchoModel(""), "ggml", graph), kUnsupportedOperation);
  EXPECT_THAT(log_.Last(), HasSubstr("policy does not allow encoding ggml"));
  Make("policy.encodings = ['GGUF']\n");
  EXPECT_EQ(LoadAs(model_, "", graph), kUnsupportedOperation);
  EXPECT_EQ(LoadAs(EchoModel(""), "ggml", graph), kSuccess);
  Make("policy.load = \"deny\"\n");
  EXPECT_EQ(LoadAs(model_, "affine", graph), kUnsupportedOperation);
  // A guest's own policy.
  Make();
  const char* const names[] = {"Affine"};
  program_ = EchoProgram(NewGuest(host_.get(), [&](wasinn_policy& policy) {
    EXPECT_EQ(policy.encodings, nullptr);
    policy.encodings = names;
    policy.n_encodings = 1;
  }));
  EXPECT_EQ(LoadAs(EchoModel(""), "ggml", graph), kUnsupportedOperation);
  EXPECT_EQ(LoadAs(model_, "affine", graph), kSuccess);
}

// Their libraries are opened only for a format that only they know.
TEST_F(FormatsTest, LibrariesAreOpenedWhenTheyAreNeeded) {
  const std::string warning = "libwasinn_backend_nameless.so: its format 1 has no name";
  Make("", InThisBuild("lib/wasinn-formats"));
  Write("m.onnx", "x");
  Write("f/model.tflite", "x");
  ASSERT_EQ(MessageOf(Add("m", "m.onnx")), "");
  ASSERT_EQ(MessageOf(Add("f", "f")), "");
  ASSERT_EQ(MessageOf(Add("g", "m.onnx", "gguf")), "");
  EXPECT_FALSE(log_.Contains(warning)) << "wasi-nn's own formats are known without";
  Write("m.affine", model_);
  ASSERT_EQ(MessageOf(Add("a", "m.affine")), "");
  EXPECT_TRUE(log_.Contains(warning));
}

TEST_F(FormatsTest, NumbersOfWasmEdgeAreNamesOfFormats) {
  uint32_t graph = 0;
  Make("", InThisBuild("lib/wasinn-formats"));
  EXPECT_EQ(program_.LoadBytes("|", 11, graph), kInvalidEncoding) << "piper, but no model of the template's";
  EXPECT_THAT(log_.Last(), HasSubstr("expected AFF1 and 12 bytes"));
  EXPECT_EQ(program_.LoadBytes("|", 5, graph), kInvalidEncoding) << "autodetect by its function";
  EXPECT_THAT(log_.Last(), HasSubstr("expected AFF1 and 12 bytes"));
  EXPECT_EQ(program_.LoadBytes("|", 8, graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(),
              HasSubstr("encoding 8 (burn in WasmEdge's numbers) is served by no backend: unknown encoding "
                        "'burn'; known are onnx,"));
  Make("policy.dialect = 'wamr'\n", InThisBuild("lib/wasinn-formats"));
  EXPECT_EQ(program_.LoadBytes("|", 11, graph), kInvalidEncoding);
  EXPECT_THAT(log_.Last(), HasSubstr("(piper in WasmEdge's numbers)"));
}

TEST_F(FormatsTest, TheHostsOrderDecidesBetweenBackends) {
  uint32_t graph = 0;
  Make("log.level = 'info'\nbackend_order = ['second']\n", InThisBuild("lib/wasinn-formats"));
  ASSERT_EQ(LoadAs(model_, "affine", graph), kSuccess) << log_.Last();
  ExpectComputes(graph);
  EXPECT_TRUE(
      log_.Contains("encoding affine is served by backend 'second', or by absent, broken if its framework is missing"));
  EXPECT_FALSE(log_.Contains("encoding piper is served"));
  EXPECT_FALSE(log_.Contains("there is nothing to open"));
}

TEST_F(FormatsTest, OnlyAMissingFrameworkGivesWayToTheNext) {
  uint32_t graph = 0;
  Make("backend_order = ['absent', 'second']\n", InThisBuild("lib/wasinn-formats"));
  for (int n = 0; n < 2; ++n) {
    ASSERT_EQ(LoadAs(model_, "affine", graph), kSuccess) << log_.Last();
    ExpectComputes(graph);
  }
  const std::string reported =
      "encoding affine goes to backend 'second', since 'absent' has no framework: there is nothing";
  EXPECT_EQ(
      std::ranges::count_if(log_.lines(), [&](const std::string& line) { return line.find(reported) != line.npos; }),
      1);
  Make("", InThisBuild("lib/wasinn-formats"));
  EXPECT_EQ(LoadAs(model_, "affine", graph), kRuntimeError) << "absent, then broken";
  Make("backend_order = ['broken']\n", InThisBuild("lib/wasinn-formats"));
  EXPECT_EQ(LoadAs(model_, "affine", graph), kRuntimeError);
  // A backend that is named is the only one.
  Write("m.affine", model_);
  ASSERT_EQ(MessageOf(Add("m", "m.affine", nullptr, "absent")), "");
  EXPECT_EQ(program_.LoadByName("m", graph), kUnsupportedOperation);
  ASSERT_EQ(MessageOf(Add("m", "m.affine", nullptr, "second")), "");
  ExpectModelComputes("m");
}

TEST_F(FormatsTest, AnOrderOfBackendsThatAreNotThereIsAWarning) {
  uint32_t graph = 0;
  Make("backend_order = ['tempalte', 'onnx']\n");
  ASSERT_EQ(LoadAs(model_, "affine", graph), kSuccess);
  EXPECT_TRUE(
      log_.Contains("backend_order's backend 'tempalte' names no backend that is here; did you mean 'template'?"));
  EXPECT_FALSE(log_.Contains("'onnx' is for none"));
}

}  // namespace
}  // namespace wasinn::testing
