#include <wasinn/wit.h>

#include <span>

#include "bench/soak/guest.h"

namespace wasinn::soak {
namespace {

constexpr uint32_t kWitCpu = 0, kWitF32 = 1, kWitU8 = 4;  // numbers of enums of wasi:nn

const wasinn_wit_functions& Wit() { return *wasinn_wit(); }

// The bytes of a view, which is released.
class View {
 public:
  ~View() {
    if (view_.release != nullptr) view_.release(view_.owner);
  }
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  wasinn_wit_view* out() { return &view_; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(view_.data);
  }
  size_t count() const { return view_.count; }

 private:
  wasinn_wit_view view_{};
};

void NoTrap(wasinn_status* status) {
  const Status owned(status);
  if (!owned.ok()) throw Failed(owned.message());
}

class Component : public Inferer {
 public:
  explicit Component(wasinn_guest* guest) : guest_(guest) {}

  void Load(const Model& model, const std::optional<std::string>& name) override {
    Unload();
    wasinn_wit_result graph{}, context{};
    if (name) {
      Take(Wit().graph_load_by_name(guest_, name->data(), name->size(), &graph), graph);
    } else {
      std::vector<wasinn_bytes> builders;
      for (const std::vector<uint8_t>& part : model.parts()) builders.push_back({part.data(), part.size()});
      Take(Wit().graph_load(guest_, builders.data(), builders.size(), model.encoding(), kWitCpu, &graph), graph);
    }
    graph_ = graph.rep;
    Take(Wit().graph_init_execution_context(guest_, graph_, &context), context);
    context_ = context.rep;
  }

  std::vector<uint8_t> Infer(const Question& question) override {
    const std::span options(reinterpret_cast<const uint8_t*>(question.options.data()), question.options.size());
    const std::vector<uint32_t> length = {static_cast<uint32_t>(options.size())};
    std::vector<wasinn_wit_named_tensor> inputs = {
        {"0", 1, NewTensor(question.dims, question.is_text ? kWitU8 : kWitF32, question.input)}};
    if (!options.empty()) inputs.push_back({"1", 1, NewTensor(length, kWitU8, options)});
    wasinn_wit_result done{};
    View outputs, data;
    Take(Wit().context_compute(guest_, context_, inputs.data(), inputs.size(), &done, outputs.out()), done);
    for (size_t i = 0; i < outputs.count(); ++i) {
      const uint32_t output = outputs.data<wasinn_wit_named_tensor>()[i].tensor;
      if (i == 0) NoTrap(Wit().tensor_data(guest_, output, data.out()));
      NoTrap(Wit().tensor_drop(guest_, output));
    }
    return {data.data<uint8_t>(), data.data<uint8_t>() + data.count()};
  }

  void Unload() override {
    if (context_ != 0) NoTrap(Wit().context_drop(guest_, context_));
    if (graph_ != 0) NoTrap(Wit().graph_drop(guest_, graph_));
    context_ = graph_ = 0;
  }

 private:
  uint32_t NewTensor(const std::vector<uint32_t>& dims, uint32_t type, std::span<const uint8_t> bytes) const {
    uint32_t tensor = 0;
    NoTrap(Wit().tensor_new(guest_, dims.data(), dims.size(), type, bytes.data(), bytes.size(), &tensor));
    return tensor;
  }
  void Take(wasinn_status* status, const wasinn_wit_result& result) const {
    NoTrap(status);
    if (result.is_error == 0) return;
    View text;
    NoTrap(Wit().error_data(guest_, result.rep, text.out()));
    NoTrap(Wit().error_drop(guest_, result.rep));
    throw Failed(std::string(text.data<char>(), text.count()));
  }

  wasinn_guest* const guest_;
  uint32_t graph_ = 0, context_ = 0;
};

}  // namespace

std::unique_ptr<Inferer> AsComponent(wasinn_guest* guest) { return std::make_unique<Component>(guest); }

}  // namespace wasinn::soak
