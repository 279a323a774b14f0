#include "serve/tenants/tenant.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>

#include "serve/server.h"

namespace wasinn::serve {

namespace {

// The memory of an output, as long as it is kept: perhaps longer than all other objects.
struct Shown {
  std::shared_ptr<Guest> guest;
  View view;  // destroyed first
};

std::vector<uint32_t> WitShape(const InputTensor& input) {
  std::vector<uint32_t> shape;
  for (const int64_t dim : input.shape) {
    const bool is_dim = dim <= std::numeric_limits<uint32_t>::max() / 2;
    if (!is_dim) ThrowInvalid("input '{}': {} is not a dimension", input.name, dim);
    shape.push_back(static_cast<uint32_t>(dim));
  }
  const uint32_t times = input.datatype->wit_elements;
  if (times > 1 && shape.empty()) shape.push_back(1);
  if (times > 1) shape.back() *= times;
  return shape;
}

// The text in a tensor of BYTES.
std::span<const uint8_t> TextOf(const InputTensor& input) {
  const std::optional<std::span<const uint8_t>> text = OnlyElement(input.bytes());
  if (!text) ThrowInvalid("input '{}': expected one element of BYTES", input.name);
  return *text;
}

// In the model's type, if the model reports it.
void ShowAs(const Datatype& datatype, OutputTensor& tensor) {
  tensor.datatype = &datatype;
  if (datatype.size == 0) {
    auto text = std::make_shared<std::string>();
    AppendElement(*text, tensor.bytes);
    tensor.bytes = {reinterpret_cast<const uint8_t*>(text->data()), text->size()};
    tensor.owner = std::move(text);
    tensor.shape = {1};
  } else if (datatype.wit_elements > 1 && !tensor.shape.empty()) {
    tensor.shape.back() /= datatype.wit_elements;
  }
}

// The framework's word, if it has one: "string" of OpenVINO, whose strings are not served.
std::string_view OtherType(const Io& io) { return io.type_name.empty() ? "numbers" : io.type_name; }

// One inference in one context. Its own objects are destroyed with it. Its functions throw Failure.
class Inference {
 public:
  Inference(const std::shared_ptr<Guest>& owner, const Signature& signature, uint32_t context, Charge charge)
      : owner_(owner), guest_(owner->get()), signature_(signature), context_(context), charge_(std::move(charge)) {}
  ~Inference() {
    for (const wasinn_wit_named_tensor& input : inputs_) wasinn_status_free(wit_.tensor_drop(guest_, input.tensor));
    for (const auto& output : outputs_.of<wasinn_wit_named_tensor>()) {  // views keep their content
      wasinn_status_free(wit_.tensor_drop(guest_, output.tensor));
    }
  }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  void Set(const InputTensor& input) {
    const Io* io = FindIo(signature_.inputs, input.name);
    const bool any_name = signature_.inputs.size() == 1 && (signature_.inputs[0].flags & WASINN_IO_ANY_NAME) != 0;
    if (io == nullptr && any_name) io = signature_.inputs.data();
    if (io == nullptr) ThrowInvalid("the model has no input '{}'", input.name);
    const bool is_set = std::ranges::any_of(inputs_, [&](const auto& one) { return one.name == io->name.data(); });
    if (is_set) ThrowInvalid("input '{}' is given twice", io->name);
    const Datatype* expected = DatatypeOf(*io);
    const bool is_bytes = input.datatype->size == 0;
    if (expected != nullptr ? expected != input.datatype : is_bytes) {
      ThrowInvalid("input '{}' is of {}, not {}", input.name, expected != nullptr ? expected->name : OtherType(*io),
                   input.datatype->name);
    }
    std::span<const uint8_t> bytes = input.bytes();
    std::vector<uint32_t> shape;
    StringRecords records;
    if ((io->flags & WASINN_IO_STRINGS) != 0) {
      records = ToRecords(input, charge_);
      bytes = {reinterpret_cast<const uint8_t*>(records.bytes.data()), records.bytes.size()};
      shape = std::move(records.shape);
    } else if (is_bytes) {
      bytes = TextOf(input);
      shape = {static_cast<uint32_t>(bytes.size())};
    } else {
      shape = WitShape(input);
    }
    uint32_t tensor = 0;
    OrThrow(
        wit_.tensor_new(guest_, shape.data(), shape.size(), input.datatype->wit, bytes.data(), bytes.size(), &tensor));
    inputs_.push_back({io->name.data(), io->name.size(), tensor});
  }
  void Select(const std::vector<std::string>& outputs) {
    std::vector<wasinn_bytes> names;
    for (const std::string& name : outputs) {
      const Io* io = FindIo(signature_.outputs, name);
      if (io == nullptr) ThrowInvalid("the model has no output '{}'", name);
      const auto* bytes = reinterpret_cast<const uint8_t*>(io->name.data());
      const bool is_named = std::ranges::any_of(names, [bytes](const wasinn_bytes& one) { return one.data == bytes; });
      if (is_named) ThrowInvalid("output '{}' is asked for twice", name);
      names.push_back({bytes, io->name.size()});
    }
    wasinn_wit_result result = {};
    wasinn_status* status = wit_.context_select_outputs(guest_, context_, names.data(), names.size(), &result);
    (void)RepOrThrow(guest_, status, result);
  }
  std::vector<OutputTensor> Compute(const std::vector<std::string>& wanted) {
    wasinn_wit_result result = {};
    wasinn_wit_view view = {};
    const std::vector<wasinn_wit_named_tensor> inputs = std::exchange(inputs_, {});  // the call owns their tensors
    wasinn_status* status = wit_.context_compute(guest_, context_, inputs.data(), inputs.size(), &result, &view);
    (void)RepOrThrow(guest_, status, result);
    outputs_ = View(view);
    std::vector<OutputTensor> taken;
    for (const wasinn_wit_named_tensor& output : outputs_.of<wasinn_wit_named_tensor>()) {
      OutputTensor one = Take(output);
      const bool is_wanted = wanted.empty() || std::ranges::find(wanted, one.name) != wanted.end();
      if (is_wanted) taken.push_back(std::move(one));
    }
    return taken;
  }

 private:
  OutputTensor Take(const wasinn_wit_named_tensor& output) {
    OutputTensor tensor;
    tensor.name.assign(output.name, output.name_size);
    uint32_t type = 0;
    wasinn_wit_view dimensions = {}, data = {};
    OrThrow(wit_.tensor_type(guest_, output.tensor, &type));
    OrThrow(wit_.tensor_dimensions(guest_, output.tensor, &dimensions));
    const View dims(dimensions);
    OrThrow(wit_.tensor_data(guest_, output.tensor, &data));
    auto shown = std::make_shared<Shown>(owner_, View(data));
    for (const uint32_t dim : dims.of<uint32_t>()) tensor.shape.push_back(dim);
    tensor.bytes = shown->view.of<uint8_t>();
    tensor.owner = std::move(shown);
    const Io* io = FindIo(signature_.outputs, tensor.name);
    if (io != nullptr && (io->flags & WASINN_IO_STRINGS) != 0) {
      ToElements(tensor);
      return tensor;
    }
    const Datatype* datatype = io == nullptr ? nullptr : DatatypeOf(*io);
    ShowAs(datatype == nullptr ? OfWit(type) : *datatype, tensor);
    return tensor;
  }

  const wasinn_wit_functions& wit_ = *wasinn_wit();
  const std::shared_ptr<Guest>& owner_;
  wasinn_guest* const guest_;
  const Signature& signature_;
  const uint32_t context_;
  Charge charge_;
  std::vector<wasinn_wit_named_tensor> inputs_;
  View outputs_;
};

// Idle contexts hold memory, so a server of very many models keeps the most recent ones.
constexpr size_t kMaxIdleContexts = 128;

// Resources that clients cannot make grow have no limit: names and graphs are the host's, tensors go with requests.
Limits TenantLimits(Limits limits) {
  limits.max_log_messages = 0;  // the client gets the error
  for (uint32_t wasinn_limits::* count : {&wasinn_limits::max_graphs, &wasinn_limits::max_name_bytes,
                                          &wasinn_limits::max_tensors, &wasinn_limits::max_errors}) {
    limits.*count = std::numeric_limits<uint32_t>::max();
  }
  return limits;
}

// If a model only takes long for some inputs, that also counts when it failed.
void Learn(const KnownModel& model, std::chrono::nanoseconds took, bool failed) {
  const int64_t usual = model.usual_ns.load(std::memory_order_relaxed);
  const int64_t now = std::max<int64_t>(took.count(), 1);
  if (failed && now <= usual) return;  // it may not have computed
  model.usual_ns.store(usual == 0 ? now : usual + (now - usual) / 8, std::memory_order_relaxed);
}

}  // namespace

Tenant::Tenant(Guest guest, KnownModels& models, GuestSettings settings, TenantOptions options)
    : settings_(std::move(settings)),
      options_(std::move(options)),
      share_(std::max(1u, settings_.policy().weight), options_.is_alone),
      guest_(std::make_shared<Guest>(std::move(guest))),
      models_(models),
      idle_(guest_->get(), kMaxIdleContexts),
      listener_(models, [this](const std::string& model) { Forget(model); }) {}

std::unique_ptr<Tenant> Tenant::Make(const Host& host, KnownModels& models, GuestSettings settings,
                                     TenantOptions options) {
  GuestOptions guest_options;
  guest_options.name = options.name;
  guest_options.limits = TenantLimits(settings.limits());
  guest_options.policy = settings.policy();
  Result<Guest> guest = Guest::Create(host, guest_options);
  if (!guest) throw ToFailure(guest.status());
  return std::unique_ptr<Tenant>(new Tenant(std::move(*guest), models, std::move(settings), std::move(options)));
}

std::optional<Tenant::Place> Tenant::Enter() {
  const size_t before = n_requests_.fetch_add(1, std::memory_order_relaxed);
  Place place(this);
  if (options_.max_requests > 0 && before >= options_.max_requests) return std::nullopt;
  return place;
}

std::shared_ptr<ModelContexts> Tenant::ContextsOf(const std::string& model, const std::string& version) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ModelContexts>& contexts = contexts_[model][version];
  if (contexts == nullptr) contexts = std::make_shared<ModelContexts>(guest_->get(), idle_, NameOf(model, version));
  return contexts;
}

void Tenant::Forget(const std::string& model) {
  decltype(contexts_)::node_type forgotten;  // freed after the lock; computes keep theirs until they end
  const std::lock_guard lock(mutex_);
  forgotten = contexts_.extract(model);
}

void Tenant::AddressToClient(Failure& failure) {
  constexpr std::string_view kToEmbedder = "load the model again";
  if (failure.code == WASINN_ERROR_LOST && failure.message.ends_with(kToEmbedder)) {
    failure.message.replace(failure.message.size() - kToEmbedder.size(), kToEmbedder.size(), "send the request again");
  }
}

InferResponse Tenant::TryInfer(const KnownModel& model, const InferRequest& request, Cancellation* cancellation) {
  const std::string version = std::to_string(model.info.version);
  std::shared_ptr<ModelContexts> contexts = ContextsOf(request.model, version);
  const uint32_t taken = contexts->Take();
  TakenContext context(guest_, std::move(contexts), taken);
  const auto start = std::chrono::steady_clock::now();
  auto outputs = Try([&] {
    const Cancellation::Stop stop(cancellation, [&context] { context.Drop(); });
    Inference inference(guest_, model.signature, context.get(), Charge(budget()));
    for (const InputTensor& input : request.inputs) inference.Set(input);
    inference.Select(request.outputs);
    return inference.Compute(request.outputs);
  });
  const bool is_cancelled = cancellation != nullptr && cancellation->is_cancelled();
  Learn(model, std::chrono::steady_clock::now() - start, is_cancelled || !outputs);
  if (is_cancelled) throw ClientGone();
  if (!outputs) throw std::move(outputs.error());  // anything that is set or selected there is lost
  context.Keep();
  return InferResponse{request.model, version, std::move(*outputs)};
}

InferResponse Tenant::Infer(const InferRequest& request, Cancellation* cancellation) {
  const auto model = models_.Get(request.model, request.version);  // first: there are no contexts for unknown names
  return InWorker(*model, request.model, [&] { return TryInfer(*model, request, cancellation); });
}

std::unique_ptr<Completion> Tenant::Complete(const std::string& model, const std::string& version, const Prompt& prompt,
                                             Cancellation* cancellation) {
  const auto known = models_.Get(model, version);
  const std::string number = std::to_string(known->info.version);
  return InWorker(*known, model, [&] {
    std::shared_ptr<ModelContexts> contexts = ContextsOf(model, number);
    const uint32_t context = contexts->TakeFor(prompt.goes_on ? prompt.prompt : "");
    auto completion = std::make_unique<Completion>(guest_, std::move(contexts), context, cancellation, known);
    completion->Begin(prompt);
    return completion;
  });
}

TextLimits Tenant::LimitsOf(const std::string& model, const std::string& version) {
  const auto known = models_.Get(model, version);
  return ContextsOf(model, std::to_string(known->info.version))->Limits();
}

namespace {

// Whether `name` is "MODEL:2".
bool IsVersionOf(const std::string& model, std::string_view name) {
  if (!name.starts_with(model) || name.size() < model.size() + 2 || name[model.size()] != ':') return false;
  return name.find_first_not_of("0123456789", model.size() + 1) == name.npos;
}

}  // namespace

GuestSettings GuestSettings::Make(const ServeOptions& options, const std::string& more) {
  wasinn::Config config;
  OrThrow(config.LoadToml(options.sections.guests));
  for (const auto& [key, value] : options.host_flags.settings) {
    static constexpr std::string_view kOfGuests[] = {"limits.", "policy.", "engine."};
    if (std::ranges::none_of(kOfGuests, [&](std::string_view of) { return key.starts_with(of); })) continue;
    OrThrow(config.Set(key, value));
  }
  OrThrow(config.LoadToml(more));
  Host host = OrThrow(Host::Create(config));
  Policy policy = host.policy();
  auto outbound = settings::OutboundHosts::Parse(policy.allowed_outbound_hosts);
  if (!outbound) throw Invalid(std::move(outbound.error()));
  return GuestSettings(std::move(host), std::move(policy), std::move(*outbound));
}

bool GuestSettings::MayUse(const std::string& model) const {
  if (!policy_.models) return true;
  return std::ranges::any_of(*policy_.models,
                             [&](const std::string& name) { return name == model || IsVersionOf(model, name); });
}

}  // namespace wasinn::serve
