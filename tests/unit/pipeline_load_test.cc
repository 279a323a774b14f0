// The errors of pipelines whose names, types or shapes do not fit, at their load.
#include <wasinn/wasinn.hpp>

#include "support/this_build.h"
#include "unit/pipeline_host.h"

namespace wasinn::testing {
namespace {

class PipelineLoad : public PipelineTest {
 protected:
  PipelineLoad() {
    Model("one", "in x f32 1,4\n");
    Model("two", "in a f32 4\nin b i32 -1\n");
    Model("open", "in x ? any\n");
    Model("extra", "in x f32 1,4\nin y f32 2 optional\n");
    Model("late", "in x f32 1,4\nlate\n");
    Model("text", "in x u8 any opaque\n");
    Model("odd", "in x f32 1,4\nin s ? any unservable\n");
  }
  // The error of a pipeline "p".
  std::string ErrorOf(const std::string& step, const std::string& settings = "") {
    Pipeline("p", step, settings);
    const HostPtr host = Host();
    return LoadError(host, "p");
  }
};

// A step of this model; `in` and `out` are the maps.
std::string Step(const std::string& model, const std::string& in = "", const std::string& out = "") {
  std::string step = "{model_name = '" + model + "'";
  if (!in.empty()) step += ", input_map = {" + in + "}";
  if (!out.empty()) step += ", output_map = {" + out + "}";
  return step + "}, ";
}

// An invalid pipeline "p" of these steps.
struct Wrong {
  const char* name;
  std::string message, steps, settings = "";
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongPipelineLoad : public PipelineLoad, public ::testing::WithParamInterface<Wrong> {};

TEST_P(WrongPipelineLoad, HasThisMessage) {
  EXPECT_EQ(ErrorOf(GetParam().steps, GetParam().settings), "model 'p:1': " + GetParam().message);
}

const Wrong kWrong[] = {
    {"WhoseModelIsUnknown", "step 2 ('nobody'): no model is registered as 'nobody'",
     Step("one", "x = 'i'") + Step("nobody")},
    {"WhoseMapsNameNothing", "step 1 ('one'): input_map: the model has no input 'q', only 'x'", Step("one", "q = 'i'")},
    {"WhoseOutputMapNamesNothing", "step 1 ('two'): output_map: the model has no output 'q', only 'a', 'b'",
     Step("two", "a = 'i', b = 'j'", "q = 'o'")},
    {"WhoseMapLacksAnInput", "step 1 ('two'): input_map has no 'b', which the model needs", Step("two", "a = 'i'")},
    {"WhoseMapHasAnInputTwice", "step 1 ('one'): input_map has its input 'x' twice", Step("one", "x = 'i', 0 = 'j'")},
    {"WhoseMapHasAnOutputTwice", "step 1 ('one'): output_map has its output 'x' twice",
     Step("one", "x = 'i'", "x = 'a', 0 = 'b'")},
    {"WhoseStepHangsInTheAir", "step 2 ('two'): it needs an input_map: no step before it makes or takes 'a'",
     Step("one", "x = 'i'") + Step("two")},
    {"WhoseLateOutputsHaveNoNames",
     "step 1 ('late'): its outputs are known only after a compute: it needs an output_map", Step("late", "x = 'i'")},
    {"TwoOfWhoseStepsMakeTheSame",
     "step 2 ('one'): it makes 'o', as step 1 ('one') does: an output_map can give it another name",
     Step("one", "x = 'i'", "x = 'o'") + Step("one", "x = 'i'", "x = 'o'")},
    {"WhoseStepsAreInAnotherOrder",
     "step 1 ('one'): it takes 'b', which step 2 ('one') makes: a step comes after those that it takes something from",
     Step("one", "x = 'b'", "x = 'o'") + Step("one", "x = 'i'", "x = 'b'")},
    {"WhoseStepTakesWhatItMakes",
     "step 1 ('one'): it takes 'x', which step 1 ('one') makes: a step comes after those that it takes something from",
     Step("one")},
    {"WhoseTypesDiffer", "step 2 ('two'): 'm' is f32 [1, 4] there, and its 'b' takes i32 [?]",
     Step("one", "x = 'i'", "x = 'm'") + Step("two", "b = 'm', a = 'j'")},
    {"WhoseShapesDiffer", "step 2 ('two'): 'm' is f32 [1, 4] there, and its 'a' takes f32 [4]",
     Step("one", "x = 'i'", "x = 'm'") + Step("two", "a = 'm', b = 'j'")},
    {"WhoseTextIsNone", "step 2 ('text'): 'm' is f32 [1, 4] there, and its 'x' takes u8 of any length",
     Step("one", "x = 'i'", "x = 'm'") + Step("text", "x = 'm'")},
    {"WhoseInputIsTakenAsTwoThings",
     "step 2 ('two'): 'i' is f32 [1, 4] there, and its 'a' takes f32 [4]: one tensor cannot be both",
     Step("one", "x = 'i'", "x = 'm'") + Step("two", "a = 'i', b = 'j'")},
    {"WhoseOutputIsNoTensorOfNumbers",
     "step 1 ('odd'): output_map: output 's' is of type echo, which cannot be passed as a tensor of numbers",
     Step("odd", "x = 'i', s = 'j'", "s = 'o'")},
    {"WhoseOutputWouldBeLeftOutInSilence",
     "step 1 ('odd'): output 's' is of type echo, which cannot be passed as a tensor of numbers: an output_map that "
     "does not name it leaves it out",
     Step("odd", "x = 'i', s = 'j'")},
    {"WhoseInputsDoNotNameAll", "step 1 ('one'): it takes 'i', which no step makes, and which is not among inputs",
     Step("one", "x = 'i'", "x = 'o'"), "inputs = ['j']\n"},
    {"WhoseInputsNameNothing", "inputs: no step takes 'q', or a step makes it", Step("one", "x = 'i'", "x = 'o'"),
     "inputs = ['i', 'q']\n"},
    {"WhoseOutputsNameNothing", "outputs: no step makes 'i': they make 'o'", Step("one", "x = 'i'", "x = 'o'"),
     "outputs = ['i']\n"},
    {"WhoseListsHaveANameTwice", "outputs: 'o' is listed twice", Step("one", "x = 'i'", "x = 'o'"),
     "outputs = ['o', 'o']\n"},
    {"ThatIsItsOnlyStep", "it is a step of itself: 'p' -> 'p'", Step("p:1")}};

INSTANTIATE_TEST_SUITE_P(, WrongPipelineLoad, ::testing::ValuesIn(kWrong),
                         [](const auto& wrong) { return wrong.param.name; });

TEST_F(PipelineLoad, ThatIsAStepOfItself) {
  Pipeline("q", Step("p"));
  EXPECT_EQ(ErrorOf(Step("one", "x = 'i'") + Step("q")), "model 'p:1': it is a step of itself: 'p' -> 'q' -> 'p'");
}

TEST_F(PipelineLoad, ThatLiesTooDeep) {
  Pipeline("q0", Step("one", "x = 'i'", "x = 'o'"));
  for (int i = 1; i < 20; ++i) Pipeline("q" + std::to_string(i), Step("q" + std::to_string(i - 1)));
  EXPECT_THAT(ErrorOf(Step("q19")), HasSubstr("model 'p:1': more than 16 pipelines within each other: 'p' -> 'q19'"));
  EXPECT_EQ(LoadError(Host(), "q14"), "");
}

// The types and shapes of what is open on one side are looked at when they are there.
TEST_F(PipelineLoad, OpenTypesAndShapesFit) {
  EXPECT_EQ(ErrorOf(Step("one", "x = 'i'", "x = 'm'") + Step("open", "x = 'm'", "x = 'n'") +
                    Step("two", "a = 'n', b = 'j'", "a = 'o'")),
            "");
}

// The model's unseen ones are not there.
TEST_F(PipelineLoad, ShowsItsSignature) {
  Pipeline("p", Step("open", "x = 'i'", "x = 'm'") + Step("extra", "x = 'i'", "x = 'n'") +
                    Step("two", "a = 'm', b = 'n2'", "b = 'o'"));
  const HostPtr host = Host();
  std::vector<std::string> ios;
  const StatusPtr status(wasinn_host_inspect(
      host.get(), "p",
      [](void* user, bool is_output, uint32_t, const wasinn_io* io) {
        std::string text = std::string(is_output ? "out " : "in ") + io->name + " " +
                           wasinn_dtype_name(static_cast<wasinn_dtype>(io->dtype));
        for (int32_t i = 0; i < io->rank; ++i) text += " " + std::to_string(io->dims[i]);
        static_cast<std::vector<std::string>*>(user)->push_back(text);
      },
      &ios));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  EXPECT_THAT(ios, ElementsAre("in i f32 1 4", "in n2 i32 -1", "out n f32 1 4", "out o i32 -1"));
}

TEST_F(PipelineLoad, IsLoadedWithItsStepsOnce) {
  Pipeline("p", Step("one", "x = 'i'", "x = 'o'"));
  const HostPtr host = Host();
  EXPECT_EQ(LoadError(host, "p"), "");
  EXPECT_EQ(LoadError(host, "one"), "");
  std::vector<std::string> models;
  wasinn_host_models(
      host.get(),
      [](void* user, const wasinn_model_info* model) {
        if (!model->loaded) return;
        std::string text = std::string(model->name) + " " + model->encoding + " " + std::to_string(model->compiles);
        for (size_t i = 0; i < model->n_steps; ++i) text += std::string(" ") + model->steps[i];
        static_cast<std::vector<std::string>*>(user)->push_back(text);
      },
      &models);
  EXPECT_THAT(models, ElementsAre("one ggml 1", "p pipeline 1 one"));
}

TEST_F(PipelineLoad, SettingsOfAFileAreNotItsOwn) {
  for (const char* setting : {"path = 'x'", "encoding = 'onnx'", "backend = 'echo'", "target = 'gpu'",
                              "immutable = true", "isolate = false", "config = {a = 1}"}) {
    const std::string key(setting, std::string(setting).find(' '));
    const ConfigPtr config(wasinn_config_new());
    const std::string toml = "[models.p]\nstep = [{model_name = 'm'}]\n" + std::string(setting) + "\n";
    ASSERT_EQ(StatusPtr(wasinn_config_load_toml(config.get(), toml.c_str())), nullptr);
    wasinn_host* host = nullptr;
    const StatusPtr status(wasinn_host_new(config.get(), nullptr, nullptr, &host));
    ASSERT_NE(status, nullptr) << setting;
    EXPECT_EQ(wasinn_status_message(status.get()),
              "model 'p': it has steps, so it has no '" + key + "': that is for the models of its steps");
  }
}

TEST_F(PipelineLoad, SettingsThatAreWrong) {
  for (const auto& [toml, message] : std::vector<std::pair<std::string, std::string>>{
           {"step = []", "configuration key 'models.p.step' must be an array of tables"},
           {"step = ['m']", "configuration key 'models.p.step' must be an array of tables"},
           {"step = [{model = 'm'}]", "unknown configuration key 'models.p.step[0].model'"},
           {"step = [{model_name = 'm'}, {model_name = 'm', input_map = {x = 1}}]",
            "configuration key 'models.p.step[1].input_map.x' must be a string"},
           {"step = [{input_map = {x = 'y'}}]", "configuration key 'models.p.step[0].model_name' is missing"},
           {"path = 'm'\noutputs = ['x']", "'outputs' of 'models.p' are for one with 'step'"},
           {"version = 1", "configuration key 'models.p.path' is missing, or 'step'"}}) {
    const ConfigPtr config(wasinn_config_new());
    StatusPtr status(wasinn_config_load_toml(config.get(), ("[models.p]\n" + toml + "\n").c_str()));
    wasinn_host* host = nullptr;
    if (status == nullptr) status.reset(wasinn_host_new(config.get(), nullptr, nullptr, &host));
    ASSERT_NE(status, nullptr) << toml;
    EXPECT_THAT(wasinn_status_message(status.get()), HasSubstr(message));
  }
}

// The same by the API, whose maps are lists.
TEST_F(PipelineLoad, ByTheApi) {
  const HostPtr host = Host();
  const wasinn_tensor_name in{"x", "i"}, out{"x", "o"};
  const wasinn_tensor_name twice[] = {in, in};
  wasinn_step step{sizeof(wasinn_step), "one", &in, 1, &out, 1};
  const wasinn_step* const steps[] = {&step};
  wasinn_model_options options{};
  options.struct_size = sizeof(options);
  options.steps = steps;
  options.n_steps = 1;
  options.preload = true;
  EXPECT_EQ(StatusPtr(wasinn_host_add_model(host.get(), "p", &options)), nullptr);
  step.input_map = twice;
  step.n_input_map = 2;
  StatusPtr status(wasinn_host_add_model(host.get(), "p", &options));
  EXPECT_STREQ(wasinn_status_message(status.get()), "the map of a step has 'x' twice");
  step.struct_size = 0;
  status.reset(wasinn_host_add_model(host.get(), "p", &options));
  EXPECT_THAT(wasinn_status_message(status.get()), HasSubstr("wasinn_step has struct_size 0"));
}

TEST_F(PipelineLoad, ByTheApiOfCpp) {
  const HostPtr unused = Host();
  Config config;
  ASSERT_TRUE(config.LoadToml("backend_dirs = ['" + EchoFolder() + "']\n").ok());
  Result<wasinn::Host> host = wasinn::Host::Create(config);
  ASSERT_TRUE(host) << host.status().message();
  const std::string text = EchoModel("in x u8 4\n");
  ModelOptions model;
  model.builders = {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}};
  ASSERT_TRUE(host->AddModel("m", model).ok());
  ModelOptions pipeline;
  pipeline.steps = {{"m", {{"x", "i"}}, {{"x", "a"}}}, {"m", {{"x", "a"}}, {{"x", "b"}}}};
  pipeline.outputs = {"b", "a"};
  ASSERT_TRUE(host->AddModel("p", pipeline).ok());
  const Result<Signature> signature = host->Inspect("p");
  ASSERT_TRUE(signature) << signature.status().message();
  ASSERT_EQ(signature->outputs.size(), 2u);
  EXPECT_EQ(signature->outputs[0].name, "b");
  EXPECT_EQ(signature->inputs.at(0).name, "i");
  EXPECT_THAT(host->Models().back().steps, ElementsAre("m", "m"));
}

}  // namespace
}  // namespace wasinn::testing
