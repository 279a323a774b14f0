#include "fuzz/component_attack.h"

#include <wasinn/wit.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/expect.h"
#include "fuzz/in_process_host.h"

namespace wasinn::fuzz {
namespace {

constexpr uint32_t kAutodetect = 6;  // of graph-encoding
constexpr size_t kMaxKinds = 4;
enum Kind : size_t { kTensor, kGraph, kContext, kError };

const wasinn_wit_functions& Wit() { return *wasinn_wit(); }

// Checks that all of it can be read.
void Read(wasinn_wit_view& view, size_t element) {
  volatile uint8_t sum = 0;
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  for (size_t i = 0; i < view.count * element; ++i) sum = static_cast<uint8_t>(sum + bytes[i]);
  if (view.release != nullptr) view.release(view.owner);
  view = {};
}

// Lets the input choose what a component does.
class Attack {
 public:
  Attack(Choices& choices, wasinn_guest* guest, uint64_t most_bytes)
      : choices_(choices), guest_(guest), most_bytes_(most_bytes) {}

  void Run() {
    for (int step = 0; step < 200 && !choices_.done(); ++step) {
      Step();
      ExpectQuotas(guest_, most_bytes_);
    }
    DropAll();
  }

 private:
  void Step() {
    using Call = void (Attack::*)();
    static constexpr Call kCalls[] = {
        &Attack::NewTensor,    &Attack::NewTensor,   &Attack::ShowTensor,     &Attack::Load,
        &Attack::LoadByName,   &Attack::InitContext, &Attack::InitContext,    &Attack::Compute,
        &Attack::Compute,      &Attack::SetInput,    &Attack::ComputeSet,     &Attack::GetOutput,
        &Attack::NewError,     &Attack::ShowError,   &Attack::Inspect,        &Attack::Start,
        &Attack::NextOrFinish, &Attack::Drop,        &Attack::LoadWithConfig, &Attack::SelectOutputs};
    (this->*kCalls[choices_.Index(std::size(kCalls))])();
  }

  // ---- Arguments of a guest

  uint32_t Rep(Kind kind) {
    switch (choices_.Index(16)) {
      case 1:
        return choices_.Number<uint32_t>();
      case 2:
        kind = static_cast<Kind>(choices_.Index(kMaxKinds));  // of another kind, or dead
        break;
      default:
        break;
    }
    const std::vector<uint32_t>& reps = reps_[kind];
    return reps.empty() ? choices_.Number() : reps[reps.size() - 1 - choices_.Index(reps.size())];
  }
  uint32_t Enum() { return choices_.Index(16) == 1 ? choices_.Number<uint32_t>() : choices_.Index(8); }
  // Exactly as long as its contents: ASan sees reads beyond them.
  std::vector<char> Text() {
    static constexpr std::string_view kWords[] = {"x",   "y",    "m",    "0",  "1",
                                                  "m:1", "ggml", "onnx", "{}", R"({"mood":"a"})"};
    const std::string_view text =
        choices_.Index(4) == 3 ? choices_.Text(choices_.Number()) : kWords[choices_.Index(std::size(kWords))];
    return {text.begin(), text.end()};
  }
  struct Named {
    std::vector<std::vector<char>> names;
    std::vector<wasinn_wit_named_tensor> tensors;
  };
  Named Inputs(size_t count) {
    Named inputs;
    inputs.names.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const std::vector<char>& name = inputs.names.emplace_back(Text());
      inputs.tensors.push_back({name.data(), name.size(), Rep(kTensor)});
    }
    return inputs;
  }
  std::vector<std::vector<uint8_t>> Parts() {
    std::vector<std::vector<uint8_t>> parts(choices_.Index(8) == 7 ? choices_.Index(20) : 1);
    for (std::vector<uint8_t>& part : parts) {
      const std::string_view text = ModelText(choices_.Number());
      part.assign(text.begin(), text.end());
    }
    return parts;
  }
  // Engines have no address for a list that they do not lift.
  template <typename T>
  std::pair<const T*, size_t> List(const std::vector<T>& items) {
    if (choices_.Index(16) == 1) return {nullptr, choices_.Number<uint32_t>()};
    return {items.data(), items.size()};
  }

  // ---- Results

  void Keep(Kind kind, uint32_t rep) {
    FUZZ_EXPECT(rep != 0);
    reps_[kind].push_back(rep);
  }
  static bool Trapped(wasinn_status* status) {
    if (status == nullptr) return false;
    FUZZ_EXPECT(wasinn_status_code(status) != WASINN_OK && *wasinn_status_message(status) != '\0');
    wasinn_status_free(status);
    return true;
  }
  // Whether there is a value.
  bool Ok(wasinn_status* status, const wasinn_wit_result& result) {
    if (Trapped(status)) return false;
    if (result.is_error != 0) Keep(kError, result.rep);
    return result.is_error == 0;
  }
  void KeepIfOk(Kind kind, wasinn_status* status, const wasinn_wit_result& result) {
    if (Ok(status, result)) Keep(kind, result.rep);
  }
  // A call consumes its inputs, however it ends, if the guest was still there.
  void Consumed(const Named& inputs) {
    for (const wasinn_wit_named_tensor& input : inputs.tensors) std::erase(reps_[kTensor], input.tensor);
  }

  // ---- Calls

  void NewTensor() {
    std::vector<uint32_t> dims(choices_.Index(8) == 7 ? choices_.Index(40) : choices_.Index(4));
    for (uint32_t& dim : dims) dim = choices_.Index(8) == 7 ? choices_.Number<uint32_t>() : choices_.Index(4);
    const size_t size = choices_.Index(8) == 7 ? choices_.Number<uint16_t>() % (2 * most_bytes_) : choices_.Index(33);
    const std::vector<uint8_t> data(size, choices_.Number());
    uint32_t tensor = 0;
    if (!Trapped(Wit().tensor_new(guest_, dims.data(), dims.size(), Enum(), data.data(), size, &tensor))) {
      Keep(kTensor, tensor);
    }
  }
  void ShowTensor() {
    const uint32_t tensor = Rep(kTensor);
    uint32_t type = 0;
    wasinn_wit_view view{};
    if (!Trapped(Wit().tensor_dimensions(guest_, tensor, &view))) Read(view, sizeof(uint32_t));
    if (!Trapped(Wit().tensor_type(guest_, tensor, &type))) FUZZ_EXPECT(type <= 6);
    if (Trapped(Wit().tensor_data(guest_, tensor, &view))) return;
    if (choices_.Index(4) == 3) Drop();  // a view outlives its tensor
    Read(view, 1);
  }
  void Load() {
    const auto parts = Parts();
    std::vector<wasinn_bytes> builders;
    builders.reserve(parts.size());
    for (const auto& part : parts) builders.push_back({part.data(), part.size()});
    const auto [data, count] = List(builders);
    wasinn_wit_result result{};
    const uint32_t target = choices_.Index(8) == 7 ? Enum() : 0;
    if (choices_.Index(4) == 3) {
      const std::vector<char> format = Text();
      return KeepIfOk(kGraph, Wit().graph_load_as(guest_, data, count, format.data(), format.size(), target, &result),
                      result);
    }
    const uint32_t encoding = choices_.Index(8) == 7 ? Enum() : kAutodetect;
    KeepIfOk(kGraph, Wit().graph_load(guest_, data, count, encoding, target, &result), result);
  }
  void LoadByName() {
    const std::vector<char> name = choices_.Index(4) == 3 ? Text() : std::vector{'m'};
    wasinn_wit_result result{};
    KeepIfOk(kGraph, Wit().graph_load_by_name(guest_, name.data(), name.size(), &result), result);
  }
  void LoadWithConfig() {
    const std::vector<char> name = choices_.Index(4) == 3 ? Text() : std::vector{'m'};
    const std::vector<char> config = Text();
    wasinn_wit_result result{};
    wasinn_status* status =
        Wit().graph_load_by_name_with_config(guest_, name.data(), name.size(), config.data(), config.size(), &result);
    KeepIfOk(kGraph, status, result);
  }
  void InitContext() {
    wasinn_wit_result result{};
    wasinn_status* status = Wit().graph_init_execution_context(guest_, Rep(kGraph), &result);
    KeepIfOk(kContext, status, result);
  }
  void Compute() {
    const Named inputs = Inputs(choices_.Index(4));
    const uint32_t context = Rep(kContext);
    wasinn_wit_result result{};
    wasinn_wit_view outputs{};
    const bool ok =
        Ok(Wit().context_compute(guest_, context, inputs.tensors.data(), inputs.tensors.size(), &result, &outputs),
           result);
    Consumed(inputs);
    FUZZ_EXPECT(ok || outputs.count == 0);
    const auto* items = static_cast<const wasinn_wit_named_tensor*>(outputs.data);
    for (size_t i = 0; i < outputs.count; ++i) {
      FUZZ_EXPECT(std::string_view(items[i].name, items[i].name_size).find('\0') == std::string_view::npos);
      Keep(kTensor, items[i].tensor);
    }
    if (outputs.release != nullptr) outputs.release(outputs.owner);
  }
  void SetInput() {
    const Named input = Inputs(1);
    const uint32_t context = Rep(kContext);
    wasinn_wit_result result{};
    (void)Ok(Wit().context_set_input(guest_, context, input.tensors.data(), &result), result);
    Consumed(input);
  }
  void ComputeSet() {
    wasinn_wit_result result{};
    (void)Ok(Wit().context_compute_set(guest_, Rep(kContext), &result), result);
  }
  void GetOutput() {
    const std::vector<char> name = Text();
    wasinn_wit_result result{};
    wasinn_status* status = Wit().context_get_output(guest_, Rep(kContext), name.data(), name.size(), &result);
    KeepIfOk(kTensor, status, result);
  }
  void NewError() {
    const std::vector<char> text = Text();
    uint32_t error = 0;
    if (!Trapped(Wit().error_new(guest_, Enum(), text.data(), text.size(), &error))) Keep(kError, error);
  }
  void ShowError() {
    const uint32_t error = Rep(kError);
    uint32_t code = 0;
    wasinn_wit_view view{};
    (void)Trapped(Wit().error_code(guest_, error, &code));
    if (!Trapped(Wit().error_data(guest_, error, &view))) Read(view, 1);
  }
  void Inspect() {
    wasinn_wit_view view{};
    if (!Trapped(Wit().last_error(guest_, &view))) Read(view, 1);
    if (!Trapped(Wit().describe(guest_, Rep(kGraph), &view))) Read(view, 1);
  }
  void Start() {
    const Named inputs = Inputs(choices_.Index(3));
    const uint32_t context = Rep(kContext);
    wasinn_wit_result result{};
    (void)Ok(Wit().context_start(guest_, context, inputs.tensors.data(), inputs.tensors.size(), &result), result);
    Consumed(inputs);
  }
  void NextOrFinish() {
    const uint32_t context = Rep(kContext);
    wasinn_wit_result result{};
    if (choices_.Index(4) == 3) {
      (void)Ok(Wit().context_finish(guest_, context, &result), result);
      return;
    }
    uint32_t has_piece = 0;
    wasinn_wit_view piece{};
    const bool ok = Ok(Wit().context_next(guest_, context, &result, &has_piece, &piece), result);
    FUZZ_EXPECT(ok || has_piece == 0);
    if (has_piece != 0) Read(piece, 1);
  }
  void SelectOutputs() {
    const std::vector<std::vector<char>> texts = {Text(), Text()};
    std::vector<wasinn_bytes> names;
    for (size_t i = 0, count = choices_.Index(3); i < count; ++i) {
      names.push_back({reinterpret_cast<const uint8_t*>(texts[i].data()), texts[i].size()});
    }
    const auto [data, count] = List(names);
    wasinn_wit_result result{};
    (void)Ok(Wit().context_select_outputs(guest_, Rep(kContext), data, count, &result), result);
  }
  void Drop() {
    if (choices_.Index(32) == 1) return wasinn_guest_close(guest_);
    const auto kind = static_cast<Kind>(choices_.Index(kMaxKinds));
    const uint32_t rep = Rep(kind);
    if (DropOne(kind, rep)) std::erase(reps_[kind], rep);
  }
  bool DropOne(Kind kind, uint32_t rep) {
    using Function = wasinn_status* (*)(wasinn_guest*, uint32_t);
    const Function drops[kMaxKinds] = {Wit().tensor_drop, Wit().graph_drop, Wit().context_drop, Wit().error_drop};
    return !Trapped(drops[kind](guest_, rep));
  }

  // Then nothing is left: everything that the guest holds came from some call.
  void DropAll() {
    for (size_t kind = kMaxKinds; kind-- > 0;) {
      for (const uint32_t rep : reps_[kind]) (void)DropOne(static_cast<Kind>(kind), rep);
    }
    wasinn_statistics stats{.struct_size = sizeof(stats)};
    ExpectOk(wasinn_guest_statistics(guest_, &stats));
    FUZZ_EXPECT(stats.graphs == 0 && stats.contexts == 0 && stats.tensors == 0 && stats.error_objects == 0);
    FUZZ_EXPECT(stats.model_bytes == 0 && stats.tensor_bytes == 0);
  }

  Choices& choices_;
  wasinn_guest* const guest_;
  const uint64_t most_bytes_;
  std::array<std::vector<uint32_t>, kMaxKinds> reps_;
};

}  // namespace

void AttackAsComponent(Choices& choices, wasinn_guest* guest, uint64_t most_bytes) {
  Attack(choices, guest, most_bytes).Run();
}

}  // namespace wasinn::fuzz
