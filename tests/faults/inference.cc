#include "faults/inference.h"

#include <wasinn/wit.h>

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kGgml = 5, kWitGgml = 6, kWitTypeF32 = 1;
// More than what is copied where a worker wants it by itself.
constexpr size_t kMany = 2000;

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

void Ignore(void*, const wasinn_log_record*) {}

// ---- Core modules

class WitxInference : public Inference {
 public:
  WitxInference(const Course& course, wasinn_guest* guest)
      : calls_(guest, 1 << 18), model_(EchoModel(course.model)), course_(course) {
    AddLoading();
    AddInput(0, Numbers(3));
    AddInput(1, Numbers(kMany));
    if (course.generates) AddGeneration();
    if (course.selects) AddSelection();
    Add("compute", [this] { return Args{context_}; });
    AddOutput("get_output", 0, 3);
    if (!course.selects) AddOutput("get_output", 1, course.generates ? 3 : kMany);
    if (!course.generates) {
      Add("wasinn_ext_0.set_input_from_output", [this] { return Args{context_, 0, context_, 0}; });
    }
    AddTexts();
    if (!course.generates && !course.selects) {
      AddOnce([this] { return context_; });
      AddOnce([this] { return graph_; });
    }
    Add("finalize_execution_context", [this] { return Args{context_}; });
    Add("unload", [this] { return Args{graph_}; });
  }

 private:
  using Args = std::vector<uint64_t>;

  void Add(std::string function, std::function<Args()> args, const std::function<void()>& then = [] {}) {
    steps_.push_back({function, [this, args = std::move(args)] { args_ = args(); },
                      [this, function] { code_ = calls_.Call(function, args_); },
                      [this, then] {
                        if (code_ == kSuccess) then();
                        return code_ == kSuccess;
                      }});
  }
  uint32_t Out() { return out_ = calls_.Reserve(sizeof(uint32_t)); }

  void AddLoading() {
    const auto keep = [this] { graph_ = calls_.Read<uint32_t>(out_); };
    if (course_.named) {
      Add("load_by_name", [this] { return Args{calls_.Put("named"), 5, Out()}; }, keep);
    } else {
      Add(
          "load",
          [this] {
            const uint32_t model = calls_.Put(model_);
            const std::vector<uint32_t> builder = {model, static_cast<uint32_t>(model_.size())};
            return Args{calls_.PutAll(builder), 1, kGgml, 0, Out()};
          },
          keep);
    }
    Add(
        "init_execution_context", [this] { return Args{graph_, Out()}; },
        [this] { context_ = calls_.Read<uint32_t>(out_); });
  }
  void AddInput(uint32_t index, const std::vector<float>& values) {
    const std::string function = index == 0 ? "set_input" : "wasinn_ext_0.set_input_by_name";
    Add(function, [this, index, values] {
      const auto bytes = static_cast<uint32_t>(values.size() * sizeof(float));
      const uint32_t tensor =
          calls_.PutTensor({static_cast<uint32_t>(values.size())}, kF32, calls_.PutAll(values), bytes);
      return index == 0 ? Args{context_, index, tensor} : Args{context_, calls_.Put("y"), 1, tensor};
    });
  }
  void AddOutput(const std::string& function, uint32_t index, size_t count) {
    const auto bytes = static_cast<uint32_t>(count * sizeof(float));
    Add(
        function,
        [this, index, bytes] {
          place_ = calls_.Reserve(bytes);
          return Args{context_, index, place_, bytes, Out()};
        },
        [this, bytes, count] {
          EXPECT_EQ(calls_.Read<uint32_t>(out_), bytes);
          std::vector<float> values(count);
          std::memcpy(values.data(), calls_.memory().data() + place_, bytes);
          EXPECT_EQ(values, Numbers(count));
        });
  }
  void AddOnce(const std::function<uint32_t()>& handle) {
    Add(
        "wasinn_ext_0.compute_once",
        [this, handle] {
          const auto numbers = Numbers(kMany);
          const uint32_t data = calls_.PutAll(numbers), bytes = kMany * sizeof(float);
          place_ = calls_.Reserve(bytes);
          const uint32_t few = calls_.PutAll(std::vector<uint32_t>{3}),
                         many = calls_.PutAll(std::vector<uint32_t>{kMany});
          const std::vector<uint32_t> inputs = {0, 0,    few, 1,    kF32, data, 12, calls_.Put("y"),
                                                1, many, 1,   kF32, data, bytes};
          out_ = calls_.PutAll(std::vector<uint32_t>{calls_.Put(course_.output()), 1, place_, bytes, 0});
          return Args{handle(), calls_.PutAll(inputs), 2, out_, 1};
        },
        [this] {
          EXPECT_EQ(calls_.Read<uint32_t>(out_ + 16), kMany * sizeof(float));
          std::vector<float> values(kMany);
          std::memcpy(values.data(), calls_.memory().data() + place_, kMany * sizeof(float));
          EXPECT_EQ(values, Numbers(kMany));
        });
  }
  void AddSelection() {
    Add("wasinn_ext_0.set_output_by_name", [this] {
      place_ = calls_.Reserve(12);
      return Args{context_, calls_.Put("x"), 1, place_, 12, Out()};
    });
  }
  void AddGeneration() {
    Add("compute_single", [this] { return Args{context_}; });
    Add("get_output_single", [this] { return Args{context_, 0, calls_.Reserve(64), 64, Out()}; });
    Add("fini_single", [this] { return Args{context_}; });
  }
  void AddTexts() {
    Add("wasinn_ext_0.describe", [this] { return Args{graph_, calls_.Reserve(4000), 4000, Out()}; });
    Add("wasinn_ext_0.last_error", [this] { return Args{calls_.Reserve(4000), 4000, Out()}; });
  }

  FakeGuest calls_;
  const std::string model_;
  const Course course_;
  Args args_;
  uint32_t code_ = 0, out_ = 0, place_ = 0, graph_ = 0, context_ = 0;
};

// ---- Components

class WitInference : public Inference {
 public:
  WitInference(const Course& course, wasinn_guest* guest)
      : guest_(guest), model_(EchoModel(course.model)), course_(course) {
    AddLoading();
    AddTensor();
    if (course.generates) {
      AddGeneration();
    } else {
      AddComputeOfTensors();
      AddInputsAndOutputs();
    }
    Add("describe", [this] { return wit_->describe(guest_, graph_, &view_); });
    Add("last_error", [this] { return wit_->last_error(guest_, &view_); });
    Add("error_new", [this] { return wit_->error_new(guest_, 1, model_.data(), model_.size(), &rep_); });
    Add("error_drop", [this] { return wit_->error_drop(guest_, rep_); });
    Add("context_drop", [this] { return wit_->context_drop(guest_, context_); });
    Add("graph_drop", [this] { return wit_->graph_drop(guest_, graph_); });
  }

 private:
  using Function = std::function<void()>;
  static void Nothing() {}

  void Add(std::string function, std::function<wasinn_status*()> call, Function prepare = Nothing,
           const Function& then = Nothing) {
    steps_.push_back({std::move(function),
                      [this, prepare = std::move(prepare)] {
                        result_ = {};
                        view_ = {};
                        prepare();
                      },
                      [this, call = std::move(call)] { status_ = call(); },
                      [this, then] {
                        const bool worked = Settle();
                        if (worked) then();
                        if (view_.release != nullptr) view_.release(view_.owner);
                        return worked;
                      }});
  }
  // A trap, an error object, or neither.
  bool Settle() {
    const StatusPtr trap(std::exchange(status_, nullptr));
    if (trap != nullptr) {
      EXPECT_STRNE(wasinn_status_message(trap.get()), "");
      return false;
    }
    if (result_.is_error == 0) return true;
    EXPECT_EQ(StatusPtr(wit_->error_drop(guest_, result_.rep)), nullptr);
    return false;
  }
  void NewTensor(size_t count, uint32_t& tensor) {
    const std::vector<float> values = Numbers(count);
    const auto dim = static_cast<uint32_t>(count);
    EXPECT_EQ(StatusPtr(wit_->tensor_new(guest_, &dim, 1, kWitTypeF32, reinterpret_cast<const uint8_t*>(values.data()),
                                         count * sizeof(float), &tensor)),
              nullptr);
  }
  // They belong to the call from then on.
  Function Inputs() {
    return [this] {
      NewTensor(3, inputs_[0].tensor);
      NewTensor(kMany, inputs_[1].tensor);
    };
  }
  void ExpectNumbers(uint32_t tensor, size_t count) {
    wasinn_wit_view data{};
    EXPECT_EQ(StatusPtr(wit_->tensor_data(guest_, tensor, &data)), nullptr);
    std::vector<float> values(data.count / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), data.data, data.count);
    if (course_.generates) {
      EXPECT_GE(values.size(), count) << "a piece that could not be reported is there nevertheless";
      count = values.size();
    }
    EXPECT_EQ(values, Numbers(count));
    if (data.release != nullptr) data.release(data.owner);
    EXPECT_EQ(StatusPtr(wit_->tensor_drop(guest_, tensor)), nullptr);
  }

  void AddLoading() {
    bytes_ = {reinterpret_cast<const uint8_t*>(model_.data()), model_.size()};
    const auto keep = [this] { graph_ = result_.rep; };
    if (course_.named) {
      Add("load-by-name", [this] { return wit_->graph_load_by_name(guest_, "named", 5, &result_); }, Nothing, keep);
    } else {
      Add("load", [this] { return wit_->graph_load(guest_, &bytes_, 1, kWitGgml, 0, &result_); }, Nothing, keep);
    }
    Add(
        "init-execution-context", [this] { return wit_->graph_init_execution_context(guest_, graph_, &result_); },
        Nothing, [this] { context_ = result_.rep; });
  }
  void AddTensor() {
    Add("tensor", [this] {
      static constexpr uint32_t kDim = 3;
      static constexpr uint8_t kData[12] = {};
      return wit_->tensor_new(guest_, &kDim, 1, kWitTypeF32, kData, sizeof(kData), &rep_);
    });
    Add("tensor.dimensions", [this] { return wit_->tensor_dimensions(guest_, rep_, &view_); });
    Add("tensor.data", [this] { return wit_->tensor_data(guest_, rep_, &view_); });
    Add("tensor.drop", [this] { return wit_->tensor_drop(guest_, rep_); });
  }
  void AddComputeOfTensors() {
    const auto compute = [this] {
      return wit_->context_compute(guest_, context_, inputs_.data(), 2, &result_, &view_);
    };
    Add("compute", compute, Inputs(), [this] {
      ASSERT_EQ(view_.count, 2u);
      const auto* outputs = static_cast<const wasinn_wit_named_tensor*>(view_.data);
      ExpectNumbers(outputs[0].tensor, 3);
      ExpectNumbers(outputs[1].tensor, kMany);
    });
  }
  void AddInputsAndOutputs() {
    const auto set = [this](size_t index, size_t count) {
      Add(
          "set-input", [this, index] { return wit_->context_set_input(guest_, context_, &inputs_[index], &result_); },
          [this, index, count] { NewTensor(count, inputs_[index].tensor); });
    };
    set(0, 3);
    set(1, kMany);
    if (course_.selects) {
      Add("select-outputs", [this] { return wit_->context_select_outputs(guest_, context_, names_, 2, &result_); });
    }
    Add("compute of inputs that were set", [this] { return wit_->context_compute_set(guest_, context_, &result_); });
    AddOutput(0, 3);
    AddOutput(1, kMany);
  }
  void AddOutput(size_t index, size_t count) {
    Add(
        "get-output",
        [this, index] {
          return wit_->context_get_output(guest_, context_, inputs_[index].name, inputs_[index].name_size, &result_);
        },
        Nothing, [this, count] { ExpectNumbers(result_.rep, count); });
  }
  void AddGeneration() {
    const auto start = [this] { return wit_->context_start(guest_, context_, inputs_.data(), 2, &result_); };
    Add("start", start, Inputs());
    Add("next", [this] { return wit_->context_next(guest_, context_, &result_, &has_piece_, &view_); });
    AddOutput(0, 1);
    Add("finish", [this] { return wit_->context_finish(guest_, context_, &result_); });
  }

  const wasinn_wit_functions* const wit_ = wasinn_wit();
  wasinn_guest* const guest_;
  const std::string model_;
  const Course course_;
  wasinn_bytes bytes_{};
  std::vector<wasinn_wit_named_tensor> inputs_ = {{"x", 1, 0}, {"y", 1, 0}};
  const wasinn_bytes names_[2] = {{reinterpret_cast<const uint8_t*>("x"), 1},
                                  {reinterpret_cast<const uint8_t*>("y"), 1}};
  wasinn_status* status_ = nullptr;
  wasinn_wit_result result_{};
  wasinn_wit_view view_{};
  uint32_t rep_ = 0, graph_ = 0, context_ = 0, has_piece_ = 0;
};

}  // namespace

HostPtr HostOfFaults(bool isolated, const std::string& toml, const std::string& worker) {
  const std::string text = std::string("backend_dirs = ['" + EchoFolder() + "']\nworker = '") + worker +
                           "'\npolicy.load = '" + (isolated ? "isolated" : "in-process") + "'\n" + toml;
  const ConfigPtr config(wasinn_config_new());
  StatusPtr status(wasinn_config_load_toml(config.get(), text.c_str()));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  wasinn_host* host = nullptr;
  status.reset(wasinn_host_new(config.get(), &Ignore, nullptr, &host));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  return HostPtr(host);
}

bool Inference::Do(size_t step) const {
  steps_[step].prepare();
  steps_[step].call();
  return steps_[step].settle();
}

bool Inference::DoAll() const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!Do(i)) return false;
  }
  return true;
}

void Inference::DoFrom(size_t first) const {
  for (size_t i = first; i < steps_.size(); ++i) ASSERT_TRUE(Do(i)) << steps_[i].name;
}

std::unique_ptr<Inference> Begin(const Course& course, wasinn_guest* guest) {
  if (course.interface == Interface::kWitx) return std::make_unique<WitxInference>(course, guest);
  return std::make_unique<WitInference>(course, guest);
}

void InferAgain(const Course& course, wasinn_guest* guest, bool worked) {
  if (worked && Begin(course, guest)->DoAll()) return;
  Begin(course, guest)->DoFrom(0);
}

void ExpectNothingHeld(const GuestPtr& guest) {
  const wasinn_statistics stats = StatsOf(guest);
  EXPECT_EQ(stats.graphs, 0u);
  EXPECT_EQ(stats.contexts, 0u);
  EXPECT_EQ(stats.tensors, 0u);
  EXPECT_EQ(stats.error_objects, 0u);
  EXPECT_EQ(stats.model_bytes, 0u);
  EXPECT_EQ(stats.tensor_bytes, 0u);
  EXPECT_EQ(stats.inside, 0u);
}

}  // namespace wasinn::testing
