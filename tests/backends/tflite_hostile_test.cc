// Models of an attacker, limits, interrupting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backends/crashes.h"
#include "backends/expect.h"
#include "backends/test_host.h"
#include "backends/tflite_native.h"
#include "backends/tflite_writer.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(TfLiteHostile, WhatIsNoModelIsAnInvalidEncoding) {
  const Host host;
  const std::string model = ModelBytes("add.tflite");
  for (const std::string& bytes : {std::string(), std::string("TFL3"), std::string(8, '\0'), std::string(4000, 'x'),
                                   std::string("\x1c\0\0\0TFL3", 8), std::string("\xff\xff\xff\xffTFL3", 8),
                                   model.substr(0, 64), model.substr(0, model.size() / 2)}) {
    const Model broken(host, bytes, TfLiteOptions());
    EXPECT_EQ(broken.loaded().code, WASINN_INVALID_ENCODING) << broken.loaded().message;
  }
  LoadOptions options = TfLiteOptions();
  options.encoding = "onnx";
  EXPECT_EQ(Model(host, model, options).loaded().code, WASINN_INVALID_ENCODING);
  options = TfLiteOptions();
  options.more_bytes = {"more"};
  EXPECT_EQ(Model(host, model, options).loaded().code, WASINN_INVALID_ARGUMENT);
}

// x → operator → y, for operators that are refused whatever their inputs are.
std::string OneOperator(const TfOperator& op) {
  return WriteTfLite({{.tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
                       .inputs = {0},
                       .outputs = {1},
                       .operators = {op}}});
}

TEST(TfLiteHostile, CustomOperatorsLoadNothing) {
  const Host host;
  // For these TensorFlow Lite would load _pywrap_tensorflow_internal.so from wherever the linker finds one.
  const std::string flex = OneOperator({.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "FlexReadFile"});
  const Model refused(host, flex, TfLiteOptions());
  EXPECT_EQ(refused.loaded().code, WASINN_SECURITY);
  EXPECT_THAT(refused.loaded().message, HasSubstr("FlexReadFile"));
  const std::string custom = OneOperator({.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "Mfcc"});
  EXPECT_EQ(Model(host, custom, TfLiteOptions()).loaded().code, WASINN_SECURITY);
  // The host's own models may have them, and then TensorFlow Lite says what it does not know.
  const std::string unknown = OneOperator({.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "Unheard"});
  const Model named(host, unknown, TfLiteOptions("/models/unknown.tflite"));
  EXPECT_EQ(named.loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_THAT(named.loaded().message, HasSubstr("Unheard"));
  const Host lenient(R"({"guest_custom_ops": true})");
  EXPECT_EQ(Model(lenient, unknown, TfLiteOptions()).loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_EQ(Model(lenient, flex, TfLiteOptions()).loaded().code, WASINN_SECURITY);
  for (const int32_t code : {31 /* CALL */, 51 /* DELEGATE */, 162 /* STABLEHLO_LOGISTIC */, 100000}) {
    EXPECT_EQ(Model(host, OneOperator({.code = code, .inputs = {0}, .outputs = {1}}), TfLiteOptions()).loaded().code,
              WASINN_SECURITY)
        << code;
  }
}

// TensorFlow Lite would part such a graph for XNNPACK, and write outside of its memory.
TEST(TfLiteHostile, OperatorsThatWaitForLaterOnes) {
  const Host host;
  const auto add = [](int32_t a, int32_t b, int32_t out) {
    return TfOperator{.code = kOpAdd, .inputs = {a, b}, .outputs = {out}, .options_type = kAddOptions};
  };
  const auto load = [&](const std::vector<TfOperator>& operators) {
    const TfGraph graph = {.tensors = {{.name = "x", .shape = {1}},
                                       {.name = "y", .shape = {1}},
                                       {.name = "a", .shape = {1}},
                                       {.name = "b", .shape = {1}}},
                           .inputs = {0},
                           .outputs = {1},
                           .operators = operators};
    return Model(host, WriteTfLite({graph}), TfLiteOptions()).loaded().code;
  };
  EXPECT_EQ(load({add(0, 0, 2), add(2, 0, 3), add(3, 2, 1)}), WASINN_OK);
  EXPECT_EQ(load({add(0, 3, 1)}), WASINN_INVALID_ENCODING);                              // for what nothing gives
  EXPECT_EQ(load({add(0, 1, 1)}), WASINN_INVALID_ENCODING);                              // for itself
  EXPECT_EQ(load({add(0, 3, 2), add(2, 0, 3), add(3, 2, 1)}), WASINN_INVALID_ENCODING);  // a circle
  EXPECT_EQ(load({add(2, 2, 1), add(0, 0, 2)}), WASINN_INVALID_ENCODING);                // in the wrong order
  EXPECT_EQ(load({add(0, 0, 1), add(0, 0, 1)}), WASINN_INVALID_ENCODING);                // one tensor twice
}

// XNNPACK believes the size that is written, and would compute at address 0.
TEST(TfLiteHostile, HiddenTensorsThatAreHuge) {
  const Host host;
  const auto load = [&](std::vector<int32_t> shape) {
    const TfGraph graph = {
        .tensors = {{.name = "x", .shape = {1, 4}},
                    {.name = "y", .shape = {1, 4}},
                    {.name = "a", .shape = std::move(shape)}},
        .inputs = {0},
        .outputs = {1},
        .operators = {{.code = kOpAdd, .inputs = {0, 0}, .outputs = {2}, .options_type = kAddOptions},
                      {.code = kOpAdd, .inputs = {2, 0}, .outputs = {1}, .options_type = kAddOptions}}};
    LoadOptions options = TfLiteOptions();
    options.max_bytes = 1 << 30;
    return Model(host, WriteTfLite({graph}), options).loaded().code;
  };
  EXPECT_EQ(load({1, 4}), WASINN_OK);
  EXPECT_EQ(load({1 << 30, 4}), WASINN_TOO_LARGE);
  EXPECT_EQ(load({INT32_MAX, INT32_MAX, INT32_MAX, 4}), WASINN_TOO_LARGE);
}

TfGraph Loop(int32_t cond, int32_t body) {
  return {
      .tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
      .inputs = {0},
      .outputs = {1},
      .operators = {
          {.code = kOpWhile, .inputs = {0}, .outputs = {1}, .options_type = kWhileOptions, .options = {cond, body}}}};
}

const TfGraph kAlways = {.tensors = {{.name = "v", .shape = {1}}, {.name = "go", .type = kTfBool, .shape = {1}}},
                         .inputs = {0},
                         .outputs = {1},
                         .operators = {{.code = kOpEqual, .inputs = {0, 0}, .outputs = {1}}}};
const TfGraph kGoOn = {.tensors = {{.name = "v", .shape = {1}}, {.name = "w", .shape = {1}}},
                       .inputs = {0},
                       .outputs = {1},
                       .operators = {{.code = kOpAdd, .inputs = {0, 0}, .outputs = {1}, .options_type = kAddOptions}}};

TEST(TfLiteHostile, GraphsThatCallEachOtherForeverAreRefused) {
  const Host host;
  for (const auto& graphs : {std::vector{Loop(0, 0)}, std::vector{Loop(1, 1), Loop(0, 0)},
                             std::vector{Loop(1, 2), kAlways, Loop(1, 2)}, std::vector{Loop(7, -1)}}) {
    const Model model(host, WriteTfLite(graphs), TfLiteOptions());
    EXPECT_EQ(model.loaded().code, WASINN_INVALID_ENCODING) << model.loaded().message;
  }
  // Each graph calls the next one twice: a billion.
  std::vector<TfGraph> doubling;
  for (int32_t i = 0; i < 30; ++i) doubling.push_back(Loop(i + 1, i + 1));
  doubling.push_back(kAlways);
  EXPECT_EQ(Model(host, WriteTfLite(doubling), TfLiteOptions()).loaded().code, WASINN_INVALID_ENCODING);
  // A loop in which there is nothing to interrupt.
  const TfGraph empty_body = {.tensors = {{.name = "v", .shape = {1}}}, .inputs = {0}, .outputs = {0}};
  const TfGraph empty_cond = {.tensors = {{.name = "v", .shape = {1}},
                                          {.name = "go", .type = kTfBool, .shape = {1}, .data = std::string(1, 1)}},
                              .inputs = {0},
                              .outputs = {1}};
  EXPECT_EQ(Model(host, WriteTfLite({Loop(1, 2), empty_cond, empty_body}), TfLiteOptions()).loaded().code,
            WASINN_INVALID_ENCODING);
}

TEST(TfLiteCancel, EndsAnEndlessComputeAndNoOther) {
  const Host host;
  const Model model(host, WriteTfLite({Loop(1, 2), kAlways, kGoOn}), TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {0})));
  for (int i = 0; i < 3; ++i) {
    const Watchdog watchdog(&context, milliseconds(50));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
  }
  const Model add(host, ModelBytes("add.tflite"), TfLiteOptions());
  Context quick(add);
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(quick.Set(i, Floats({2, 2}, {1, 1, 1, 1})));
  quick.Cancel();
  EXPECT_TRUE(quick.Compute());
  quick.Cancel();
  EXPECT_TRUE(quick.Compute());
}

TEST(TfLiteLimits, MemoryOfAComputeIsCheckedBeforeItIsTouched) {
  const Host host;
  const std::vector<int32_t> to = {1 << 20, 256};  // 1 GiB, in one value between input and output
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {1, 1}},
                                {.name = "shape", .type = kTfInt32, .shape = {2}, .data = DataOf(to)},
                                {.name = "large", .shape = to},
                                {.name = "dims", .type = kTfInt32, .shape = {2}}},
                    .inputs = {0},
                    .outputs = {3},
                    .operators = {{.code = 130 /* BROADCAST_TO */, .inputs = {0, 1}, .outputs = {2}, .version = 2},
                                  {.code = kOpShape,
                                   .inputs = {2},
                                   .outputs = {3},
                                   .options_type = 55 /* ShapeOptions */,
                                   .options = {kTfInt32}}}}});
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1, 1}, {1})));
  for (int i = 0; i < 2; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
  }
}

TEST(TfLiteLimits, InputsOfAModelAreCheckedBeforeItIsPrepared) {
  const Host host;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {1 << 20, 1 << 10}}}, .inputs = {0}, .outputs = {0}}});
  LoadOptions options = TfLiteOptions();
  options.max_bytes = 1 << 26;
  const Model model(host, bytes, options);
  EXPECT_EQ(model.loaded().code, WASINN_TOO_LARGE) << model.loaded().message;
}

// TensorFlow Lite itself divides by zero in these.
TEST(TfLiteHostile, WindowsThatDoNotFitAreRefused) {
  const Host host;
  const auto convolution = [](const std::vector<int32_t>& input, const std::vector<int32_t>& signature) {
    return WriteTfLite(
        {{.tensors = {{.name = "x", .shape = input, .signature = signature},
                      {.name = "filter", .shape = {1, 5, 5, 1}, .data = DataOf(std::vector<float>(25, 1))},
                      {.name = "bias", .shape = {1}, .data = DataOf<float>({0})},
                      {.name = "y", .shape = {1, 1, 1, 1}}},
          .inputs = {0},
          .outputs = {3},
          .operators = {{.code = kOpConv,
                         .inputs = {0, 1, 2},
                         .outputs = {3},
                         .options_type = kConvOptions,
                         .options = {1 /* VALID */, 1, 1}}}}});
  };
  for (const auto& dims : {std::vector<int32_t>{1, 4, 5, 1}, {1, 5, 3, 1}, {1, 5, 5, 0}, {1, 5, 5, 254}}) {
    const Model model(host, convolution(dims, {}), TfLiteOptions());
    EXPECT_FALSE(model.loaded()) << ::testing::PrintToString(dims);
  }
  // And where the guest chooses the shape.
  const Model model(host, convolution({1, 5, 5, 1}, {1, -1, -1, 1}), TfLiteOptions("/models/sum.tflite"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 4, 5, 1}, std::vector<float>(20, 1))));
  EXPECT_EQ(context.Compute().code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, Floats({1, 6, 5, 1}, std::vector<float>(30, 1))));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[1], 25);
}

// Memory for any input, full of ones.
constexpr int64_t kMostElements = 1 << 20;
char* Ones() {
  alignas(WASINN_TENSOR_ALIGNMENT) static std::array<char, kMostElements * 8 + WASINN_TENSOR_TAIL> ones;
  if (ones.back() == 0) ones.fill(1);
  return ones.data();
}

// As the core would; with every input full of ones. True if it was loaded.
bool LoadAndRun(const Host& host, const std::string& bytes) {
  LoadOptions load = TfLiteOptions();
  load.max_bytes = 1 << 26;
  const Model model(host, bytes, load);
  if (model.loaded()) {
    const wasinn_slot_options options = {.struct_size = sizeof(options), .max_bytes = 1 << 28};
    wasinn_backend_slot* context = nullptr;
    TakeError(host.table().slot_new(model.get(), &options, &context));
    for (uint32_t i = 0; context != nullptr && i < model.info().n_inputs; ++i) {
      std::vector<int64_t> dims(model.input(i).dims, model.input(i).dims + std::max(model.input(i).rank, 0));
      int64_t n = 1;
      for (int64_t& dim : dims) n *= (dim = dim < 0 ? 1 : dim);
      constexpr size_t kSizes[] = {0, 2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
      if (model.input(i).dtype > 13 || n < 0 || n > kMostElements) continue;
      const wasinn_tensor tensor = {.struct_size = sizeof(tensor),
                                    .dtype = model.input(i).dtype,
                                    .rank = static_cast<uint32_t>(dims.size()),
                                    .dims = dims.data(),
                                    .data = Ones(),
                                    .bytes = static_cast<size_t>(n) * kSizes[model.input(i).dtype]};
      TakeError(host.table().bind_input(context, i, &tensor));
    }
    const wasinn_compute_options all = {.struct_size = sizeof(all), .n_wanted = 0, .wanted = nullptr};
    wasinn_compute_result result = {.struct_size = sizeof(result)};
    if (context != nullptr && TakeError(host.table().compute(context, &all, &result))) {
      for (uint32_t i = 0; i < model.info().n_outputs; ++i) {
        wasinn_tensor view = {.struct_size = sizeof(view)};
        TakeError(host.table().output(context, i, &view));
      }
    }
    if (context != nullptr) host.table().slot_free(context);
  }
  return static_cast<bool>(model.loaded());
}

void ExpectNoCrash(const std::vector<Crashes::Named>& models) {
  std::unique_ptr<Host> host;  // of a child
  Crashes crashes([&](const std::string& bytes) { return LoadAndRun(*host, bytes); });
  crashes.TryAll(models, [&] { host = std::make_unique<Host>(); });
  crashes.ExpectNone();
}

TEST(TfLiteHostile, TruncatedModelsCrashNothing) {
  std::vector<Crashes::Named> models;
  for (const char* name : {"sum.tflite", "scale.tflite"}) {
    const std::string model = ModelBytes(name);
    for (size_t size = 0; size < model.size(); size += 13)
      models.push_back({name + std::to_string(size), model.substr(0, size)});
  }
  ExpectNoCrash(models);
}

// Every bit pattern that a byte of the structure can take would be too many: each byte, with two others of its values.
TEST(TfLiteHostile, FlippedBytesCrashNothing) {
  std::vector<Crashes::Named> models;
  const char* step = getenv("WASINN_TEST_FLIPS");  // 1: every byte, which takes minutes
  for (const char* name : {"sum.tflite", "max.tflite", "mult_outputs.tflite", "scale.tflite"}) {
    const std::string model = ModelBytes(name);
    for (size_t i = 0; i < model.size(); i += step != nullptr ? static_cast<size_t>(std::stoi(step)) : 11) {
      for (const int flip : {0x01, 0xff}) {
        std::string broken = model;
        broken[i] = static_cast<char>(broken[i] ^ flip);
        models.push_back({std::string(name) + "[" + std::to_string(i) + "]^" + std::to_string(flip), broken});
      }
    }
  }
  ExpectNoCrash(models);
}

}  // namespace
}  // namespace wasinn::test
