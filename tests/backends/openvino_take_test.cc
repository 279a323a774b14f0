// Outputs that are taken along, large ones with their memory: whatever an output is, the next run does not touch it, and
// writes its own.
#include "backends/contract_test.h"
#include "backends/expect.h"
#include "backends/openvino_models.h"
#include "backends/openvino_writer.h"
#include "check/borrowed.h"

namespace wasinn::test {
namespace {

// Large enough to be given away with its memory; and not.
constexpr int64_t kLarge = 1 << 15, kSmall = 16;

std::vector<float> Filled(int64_t size, float value) { return std::vector<float>(static_cast<size_t>(size), value); }
Tensor Same(int64_t size, float value) { return Floats({size}, Filled(size, value)); }

// The axis 0, and as many floats of 5 as are asked for.
std::string Weights(int64_t size) {
  const std::vector<float> fives = Filled(size, 5);
  return std::string(8, '\0') + std::string(reinterpret_cast<const char*>(fives.data()), fives.size() * sizeof(float));
}

// A model of one input of `size` floats.
struct Made {
  const char* name;
  std::function<void(Ir&, const Ir::Value& x, int64_t size)> make;
  // The floats of each output if all of the input's are x (which is above 0).
  std::vector<std::function<float(float x)>> values;
};

float Id(float x) { return x; }
float Five(float) { return 5; }
float Double(float x) { return 2 * x; }

const Made kMade[] = {
    {"relu", [](Ir& ir, const Ir::Value& x, int64_t) { ir.Result(ir.Relu(x)); }, {Id}},
    {"an_input", [](Ir& ir, const Ir::Value& x, int64_t) { ir.Result(x); }, {Id}},
    {"an_input_and_more",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       ir.Result(x);
       ir.Result(ir.Add(x, x));
     },
     {Id, Double}},
    {"a_constant",
     [](Ir& ir, const Ir::Value& x, int64_t size) {
       ir.Result(ir.Floats(size, 8));
       ir.Result(ir.Add(x, x));
     },
     {Five, Double}},
    {"a_constant_that_is_read",
     [](Ir& ir, const Ir::Value& x, int64_t size) {
       const Ir::Value five = ir.Floats(size, 8);
       ir.Result(five);
       ir.Result(ir.Add(x, five));
     },
     {Five, [](float x) { return x + 5; }}},
    {"one_node_twice",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(sum);
     },
     {Double, Double}},
    {"one_node_twice_and_another",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(ir.Relu(x));
       ir.Result(sum);
     },
     {Double, Id, Double}},
    {"one_that_another_reads",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(ir.Add(sum, x));
     },
     {Double, [](float x) { return 3 * x; }}},
    {"halves",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       for (const Ir::Value& half : ir.Split(ir.Add(x, x), ir.Int(0))) ir.Result(half);
     },
     {Double, Double}},
    {"halves_of_an_input",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       for (const Ir::Value& half : ir.Split(x, ir.Int(0))) ir.Result(half);
     },
     {Id, Id}},
};

std::string NameOf(const Made& made, int64_t size) {
  return std::string(made.name) + (size == kLarge ? "_large" : "_small");
}
std::string XmlOf(const Made& made, int64_t size) {
  Ir ir;
  made.make(ir, ir.Parameter(size), size);
  return ir.Xml();
}
LoadOptions WithWeights(int64_t size) {
  LoadOptions options = OpenVinoOptions();
  options.more_bytes = {Weights(size)};
  return options;
}

// The contract's checks of such outputs, for each of them.
std::vector<OneCheck> ChecksOfTaking() {
  std::vector<OneCheck> all;
  for (const Made& made : kMade) {
    for (const int64_t size : {kSmall, kLarge}) {
      const Subject subject = {
          .name = NameOf(made, size),
          .bytes = [&made, size] { return XmlOf(made, size); },
          .options = WithWeights(size),
          .inputs = {Port{.name = "x"}},
          .make_inputs = [size](int variant,
                                int64_t) { return std::vector{Same(size, static_cast<float>(variant + 1))}; },
          .compute =
              [&made, size](const std::vector<Tensor>& inputs) {
                std::vector<Tensor> outputs;
                for (const auto& value : made.values) {
                  const int64_t n = std::string_view(made.name).starts_with("halves") ? size / 2 : size;
                  outputs.push_back(Same(n, value(inputs[0].As<float>()[0])));
                }
                return outputs;
              },
          .shares_slots = true};
      for (const Check& check : Checks()) {
        const std::string_view name = check.name;
        if (name.contains("Taken") || name.contains("Discarded") || name.contains("Reset") || name.contains("Others")) {
          all.emplace_back(subject, check);
        }
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(OpenVinoTake, Contract, ::testing::ValuesIn(ChecksOfTaking()), NameOfCheck);

// A context, and another one that computes between: with what OpenVINO has of the model, in turns.
class OpenVinoTake : public ::testing::TestWithParam<std::tuple<const Made*, int64_t>> {
 protected:
  using Takens = std::vector<std::unique_ptr<check::Taken>>;

  static const Made& made() { return *std::get<0>(GetParam()); }
  static int64_t size() { return std::get<1>(GetParam()); }

  static Takens ComputeAndTake(Context* context, float x) {
    EXPECT_TRUE(context->Set(0, Same(size(), x)));
    MustCompute(context);
    Takens all;
    for (uint32_t i = 0; i < made().values.size(); ++i) {
      all.push_back(std::make_unique<check::Taken>(context, i));
      EXPECT_TRUE(all.back()->result()) << all.back()->result().message;
    }
    return all;
  }
  static void ExpectAre(const Takens& all, float x) {
    for (uint32_t i = 0; i < all.size(); ++i) {
      const Tensor output = all[i]->Read();
      EXPECT_TRUE(output.bytes == Same(output.dims[0], made().values[i](x)).bytes)
          << "output " << i << " begins with " << output.As<float>().at(0) << " after " << x;
    }
  }

  const Host host_;
  const LoadedModel model_{host_, XmlOf(made(), size()), WithWeights(size())};
};

// Several of them, and in any order.
TEST_P(OpenVinoTake, TakenOutputsAreReleasedLater) {
  for (const size_t held : {1u, 2u, 3u}) {
    for (const bool newest_first : {false, true}) {
      Context context(model_), other(model_);
      std::deque<std::pair<float, Takens>> taken;
      for (int i = 1; i <= 12; ++i) {
        const auto x = static_cast<float>(i);
        taken.emplace_back(x, ComputeAndTake(&context, x));
        if (i % 3 == 0) ExpectAre(ComputeAndTake(&other, 20), 20);  // which are released
        for (const auto& [then, outputs] : taken) ExpectAre(outputs, then);
        if (i % 4 == 0) {
          for (size_t n = 0; n < held; ++n) taken.erase(newest_first ? std::prev(taken.end()) : taken.begin());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenVinoTake,
                         ::testing::Combine(::testing::ValuesIn([] {
                                              std::vector<const Made*> all;
                                              for (const Made& made : kMade) all.push_back(&made);
                                              return all;
                                            }()),
                                            ::testing::Values(kSmall, kLarge)),
                         [](const auto& test) { return NameOf(*std::get<0>(test.param), std::get<1>(test.param)); });

class OpenVinoGiven : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = sizeof(float) * kLarge;

  static std::string Relu() {
    Ir ir;
    ir.Result(ir.Relu(ir.Parameter(kLarge)));
    return ir.Xml();
  }
  static void Compute(Context* context, float x) {
    ASSERT_TRUE(context->Set(0, Same(kLarge, x)));
    MustCompute(context);
  }

  const Host host_;
};

TEST_F(OpenVinoGiven, LargeOutputsAreNotCopied) {
  const LoadedModel model(host_, Relu(), OpenVinoOptions());
  Context context(model);
  std::vector<std::unique_ptr<check::Taken>> held;
  for (int i = 0; i < 3; ++i) {
    Compute(&context, 1);
    const void* const place = context.View(0).data;
    held.push_back(std::make_unique<check::Taken>(&context, 0));
    EXPECT_EQ(held.back()->view().data, place);
  }
}

// As much as the core charges: one output for the slot, and those that are held.
TEST_F(OpenVinoGiven, NoMoreIsHeldThanIsCharged) {
  const LoadedModel model(host_, Relu(), OpenVinoOptions());
  Context context(model);
  Compute(&context, 1);
  const uint64_t at_first = AllocatedBytes();
  std::deque<std::unique_ptr<check::Taken>> held;
  const auto expect_held = [&] {
    EXPECT_LT(AllocatedBytes(), at_first + held.size() * kBytes + kBytes / 2) << held.size() << " are held";
  };
  for (int i = 0; i < 6; ++i) {
    held.push_back(std::make_unique<check::Taken>(&context, 0));
    expect_held();
    Compute(&context, 1);
    expect_held();
  }
  while (held.size() > 1) {
    held.pop_front();
    expect_held();
  }
  held.push_back(std::make_unique<check::Taken>(&context, 0));
  while (!held.empty()) {
    held.pop_front();
    expect_held();
  }
}

TEST_F(OpenVinoGiven, AnyThreadReleases) {
  const LoadedModel model(host_, Relu(), OpenVinoOptions());
  std::vector<std::thread> threads;
  {
    Context context(model);
    for (int i = 1; i <= 200; ++i) {
      const auto x = static_cast<float>(i);
      Compute(&context, x);
      auto taken = std::make_unique<check::Taken>(&context, 0);
      threads.emplace_back([x, taken = std::move(taken)]() mutable {
        EXPECT_TRUE(taken->Read().bytes == Same(kLarge, x).bytes);
        taken.reset();
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

// A discard frees it, because of its other memory: the next output is another request's.
TEST_F(OpenVinoGiven, OutlivesItsRequest) {
  constexpr int64_t kMany = 128 * kLarge;  // so that what cannot be shown is worth a new request
  Ir ir;
  const Ir::Value x = ir.Parameter(kMany);
  ir.Result(ir.Relu(x));
  ir.Result(ir.Narrow(x));
  const LoadedModel model(host_, ir.Xml(), OpenVinoOptions());
  Account account;
  Context context(model, 0, "{}", &account);
  const auto compute = [&](float value) {
    ASSERT_TRUE(context.Set(0, Same(kMany, value)));
    MustCompute(&context);
    EXPECT_TRUE(MustGet(&context, 0).bytes == Same(kMany, value).bytes);
  };
  for (int i = 1; i <= 3; ++i) {
    const auto value = static_cast<float>(i);
    compute(value);
    const check::Taken first(&context, 0);
    compute(value + 1);
    const auto second = std::make_unique<check::Taken>(&context, 0);
    ASSERT_GT(account.used, 0u);
    context.DiscardOutputs();
    ASSERT_EQ(account.used, 0u) << "so there is a request still";
    EXPECT_TRUE(first.Read().bytes == Same(kMany, value).bytes);
    EXPECT_TRUE(second->Read().bytes == Same(kMany, value + 1).bytes);
  }
}

}  // namespace
}  // namespace wasinn::test
