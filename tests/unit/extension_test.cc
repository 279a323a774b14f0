// wasinn_ext_0: what the standard lacks, for core modules.
#include "support/echo.h"

namespace wasinn::testing {
namespace {

constexpr char kTwo[] = "in x f32 2\nin y f32 1\n";

class Extension : public ::testing::Test {
 protected:
  uint32_t Load(std::string_view directives) {
    uint32_t graph = 0;
    EXPECT_EQ(program_.LoadBytes(EchoModel(directives), 5, graph), kSuccess);
    return graph;
  }
  // A context of kTwo whose inputs are set.
  uint32_t Ready(std::string_view more = "") {
    const uint32_t context = program_.Open(kTwo + std::string(more));
    EXPECT_EQ(program_.Set(context, {1.5f, -2}), kSuccess);
    EXPECT_EQ(program_.Set(context, {7}, 1), kSuccess);
    return context;
  }
  uint32_t Text(const std::string& function, std::vector<uint64_t> args, std::string* text, uint32_t room = 1000) {
    const uint32_t buffer = program_.Reserve(room), written = program_.Reserve(4);
    args.insert(args.end(), {buffer, room, written});
    const uint32_t error = program_.Call("wasinn_ext_0." + function, args);
    size_ = program_.Read<uint32_t>(written);
    if (error == kSuccess) text->assign(reinterpret_cast<char*>(program_.memory().data()) + buffer, size_);
    return error;
  }
  std::string LastError() { return program_.LastError(); }
  uint32_t SetByName(uint32_t context, std::string_view name, const std::vector<float>& values) {
    const auto count = static_cast<uint32_t>(values.size());
    const uint32_t tensor = program_.PutTensor({count}, kF32, program_.PutAll(values), 4 * count);
    return program_.Call("wasinn_ext_0.set_input_by_name", {context, program_.Put(name), name.size(), tensor});
  }
  uint32_t SetOutput(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t written) {
    return program_.Call("wasinn_ext_0.set_output", {context, index, buffer, size, written});
  }
  uint32_t GetOutput(uint32_t context, uint32_t index) {
    return program_.Call("get_output", {context, index, program_.Reserve(16), 16, program_.Reserve(4)});
  }

  Log log_;
  HostPtr host_ = EchoHost(log_);
  EchoProgram program_{host_.get()};
  uint32_t size_ = 0;
};

TEST_F(Extension, LastErrorIsWhatTheLogHas) {
  EXPECT_EQ(LastError(), "");
  EXPECT_EQ(program_.Compute(77), kInvalidArgument);
  EXPECT_EQ(LastError(), "compute: invalid_argument: 0x4d is not a handle of a live context");
  EXPECT_EQ(LastError(),
            "compute: invalid_argument: 0x4d is not a handle of a live context");  // asking changes nothing
}

TEST_F(Extension, ATextThatDoesNotFitReportsItsSize) {
  EXPECT_EQ(program_.Compute(77), kInvalidArgument);
  std::string text;
  EXPECT_EQ(Text("last_error", {}, &text, 10), kTooLarge);
  EXPECT_EQ(size_, LastError().size());
  EXPECT_EQ(Text("last_error", {}, &text, size_), kSuccess);
}

TEST_F(Extension, DescribeIsJson) {
  std::string text;
  EXPECT_EQ(Text("describe", {Load("in x f32 2,-1\nin n i8 any optional\n")}, &text), kSuccess);
  EXPECT_EQ(
      text,
      R"({"backend":"echo","inputs":[{"name":"x","type":"f32","shape":[2,-1]},)"
      R"({"name":"n","type":"i8","shape":null,"optional":true}],)"
      R"("outputs":[{"name":"x","type":"f32","shape":[2,-1]},{"name":"n","type":"i8","shape":null,"optional":true}],)"
      R"("model":{"guest_config":{}}})");
  EXPECT_EQ(Text("describe", {12345}, &text), kInvalidArgument);
}

TEST_F(Extension, AnyNameIsThatOfTheOnlyInputIfItsNameIsNoInterface) {
  const auto set = [&](std::string_view model, std::string_view name) {
    return SetByName(program_.Open(model), name, {7});
  };
  for (const std::string_view name : {"x", "0", "input", "1", ""}) {
    EXPECT_EQ(set("in x f32 1 any_name\n", name), kSuccess) << name;
  }
  EXPECT_EQ(set("in x f32 1\n", "input"), kInvalidArgument);
  EXPECT_EQ(set("in x f32 1 any_name\nin y f32 1 optional\n", "input"), kInvalidArgument);
}

TEST_F(Extension, InputsAndOutputsByName) {
  const uint32_t context = program_.Open(kTwo);
  EXPECT_EQ(SetByName(context, "y", {7}), kSuccess);
  EXPECT_EQ(SetByName(context, "0", {1, 2}), kSuccess);  // a decimal index, as for components
  EXPECT_EQ(SetByName(context, "z", {1}), kInvalidArgument);
  EXPECT_THAT(LastError(), HasSubstr("no input 'z', only 'x', 'y'"));
  EXPECT_EQ(program_.Compute(context), kSuccess);
  const uint32_t buffer = program_.Reserve(4), written = program_.Reserve(4);
  const auto get = [&](std::string_view name) {
    return program_.Call("wasinn_ext_0.get_output_by_name",
                         {context, program_.Put(name), name.size(), buffer, 4, written});
  };
  EXPECT_EQ(get("y"), kSuccess);
  EXPECT_EQ(program_.Read<float>(buffer), 7);
  EXPECT_EQ(get("x"), kTooLarge);
  EXPECT_EQ(program_.Read<uint32_t>(written), 8u);
  EXPECT_EQ(get(""), kInvalidArgument);
}

TEST_F(Extension, OnlyWhatWasSetIsProduced) {
  const uint32_t context = Ready();
  EXPECT_EQ(SetOutput(context, 1, 0, 0, 0), kSuccess);  // a null buffer only selects
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(GetOutput(context, 1), kSuccess);
  EXPECT_EQ(GetOutput(context, 0), kInvalidArgument);
  EXPECT_THAT(LastError(), HasSubstr("output 'x' was not produced"));
  EXPECT_EQ(SetOutput(context, 0, 0, 0, 0), kSuccess);
  EXPECT_EQ(GetOutput(context, 1), kInvalidArgument) << "what was produced is not what is wanted now";
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(GetOutput(context, 0), kSuccess);
}

TEST_F(Extension, ABufferThatIsTooSmallLosesNothing) {
  const uint32_t context = Ready();
  const uint32_t buffer = program_.Reserve(8), written = program_.Reserve(4);
  EXPECT_EQ(SetOutput(context, 0, buffer, 7, written), kSuccess);
  EXPECT_EQ(program_.Compute(context), kTooLarge);
  EXPECT_EQ(program_.Read<uint32_t>(written), 8u);
  EXPECT_EQ(program_.Read<float>(buffer), 0.f) << "nothing was written";
  EXPECT_EQ(GetOutput(context, 0), kSuccess);
}

TEST_F(Extension, PlacesOutsideOfTheMemoryAreRefused) {
  const uint32_t context = Ready(), end = static_cast<uint32_t>(program_.memory().size()), good = program_.Reserve(8);
  EXPECT_EQ(SetOutput(context, 0, end - 4, 8, good), kInvalidArgument);
  EXPECT_EQ(SetOutput(context, 0, good, UINT32_MAX, good), kInvalidArgument);
  EXPECT_EQ(SetOutput(context, 0, good, 8, end - 3), kInvalidArgument);
  EXPECT_EQ(SetOutput(context, 2, good, 8, good), kInvalidArgument);
  EXPECT_EQ(SetOutput(99, 0, good, 8, good), kInvalidArgument);
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(GetOutput(context, 0), kSuccess) << "a refused place selects nothing";
}

// A place is only an offset: the memory of the call that computes may be smaller than that of the call that set it.
TEST_F(Extension, PlacesAreCheckedAgain) {
  const uint32_t context = Ready();
  program_.memory().resize(1 << 19);
  const uint32_t high = (1 << 19) - 16, written = program_.Reserve(4);
  EXPECT_EQ(SetOutput(context, 0, high, 8, written), kSuccess);
  program_.memory().resize(1 << 18);
  EXPECT_EQ(program_.Compute(context), kInvalidArgument);
  EXPECT_THAT(LastError(), HasSubstr("outside of the guest's memory"));
  program_.memory().resize(1 << 19);
  EXPECT_EQ(program_.Compute(context), kSuccess);
}

TEST_F(Extension, OutputsThatOnlyAComputeShows) {
  const uint32_t context = Ready("late\n");
  EXPECT_EQ(GetOutput(context, 0), kInvalidArgument);
  std::string_view name = "y";
  const uint32_t buffer = program_.Reserve(4), written = program_.Reserve(4);
  const std::vector<uint64_t> get = {context, program_.Put(name), 1, buffer, 4, written};
  EXPECT_EQ(program_.Call("wasinn_ext_0.get_output_by_name", get), kInvalidArgument);
  EXPECT_EQ(SetOutput(context, 0, 0, 0, 0), kSuccess);
  EXPECT_EQ(SetOutput(context, 1, 0, 0, 0), kSuccess);
  EXPECT_EQ(SetOutput(context, UINT32_MAX, 0, 0, 0), kInvalidArgument);
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(program_.Call("wasinn_ext_0.get_output_by_name", get), kSuccess);
  EXPECT_EQ(program_.Read<float>(buffer), 7.f);
  EXPECT_EQ(GetOutput(context, 0), kSuccess);
  EXPECT_EQ(GetOutput(context, 2), kInvalidArgument);
  std::string text;
  EXPECT_EQ(Text("describe", {Load("late\nin x f32 1\n")}, &text), kSuccess);
  EXPECT_THAT(text, HasSubstr(R"("outputs":null)"));
}

}  // namespace
}  // namespace wasinn::testing
