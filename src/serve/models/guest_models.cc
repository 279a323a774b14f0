#include "serve/models/guest_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

namespace wasinn::serve {

namespace {

// The limit of a component's description.
constexpr uint64_t kMaxDescription = 1u << 20;
// The limit of an answer in addition to the bytes of its tensors.
constexpr uint64_t kMaxAround = 8u << 20;
// The limit of a guest's error message, in bytes.
constexpr size_t kMaxMessage = 1000;

// Valid UTF-8, with whole characters.
std::string_view FirstOf(std::string_view message) {
  size_t size = std::min(message.size(), kMaxMessage);
  while (size > 0 && size < message.size() && (static_cast<uint8_t>(message[size]) & 0xc0) == 0x80) --size;
  return message.substr(0, size);
}

// Bytes that are charged as long as they are shown.
struct ChargedBytes {
  std::shared_ptr<const void> owner;
  Charge charge;
};

}  // namespace

// The room for the bytes of an answer.
struct GuestModels::Room {
  Charge charge;
  uint64_t most;
  bool is_too_large = false, is_short = false;

  bool Take(uint64_t bytes) {
    is_too_large = bytes > most - charge.bytes();
    if (is_too_large) return false;
    is_short = !charge.Add(bytes);
    return !is_short;
  }
};

GuestModels::GuestModels(const Host& host, const Tenant& tenant, GuestModelOptions options,
                         std::shared_ptr<Statistics> statistics)
    : options_(std::move(options)), statistics_(std::move(statistics)), runs_(host), workers_(options_.code.workers) {
  auto engine = engines::NewWasmtimeModelEngine(options_.code.ForEngine());
  if (!engine) throw Failure{WASINN_ERROR_RUNTIME, engine.error()};
  engine_ = std::move(*engine);
  for (const auto& [name, guest] : options_.files) {
    auto own = Try([&] { return options_.code.own_settings(guest.policy); });
    if (!own) ThrowInvalid("the guest model '{}': {}", name, own.error().message);
    own_[name] = std::move(*own);
    Load(tenant, name);
  }
}

void GuestModels::Run(const std::string& model, const Tenant& tenant, Cancellation* cancellation,
                      const GuestRuns::Program& run) {
  const GuestSettings* const own = own_.at(model).get();
  const bool has_limits = options_.files.at(model).has_limits;
  RunLimits limits = GuestRuns::LimitsFor(has_limits ? *own : tenant.settings());
  limits.guest.max_log_messages = 0;  // the guest gets its errors, and may log them itself
  const Policy& policy = (own == nullptr ? tenant.settings() : *own).policy();
  const auto exit = runs_.Run({model, model, policy, limits, tenant.guest(), cancellation}, {}, {}, run);
  using Kind = engines::Exit::Kind;
  switch (exit.kind) {
    case Kind::kExited:
      return;
    case Kind::kInterrupted:
      Throw(WASINN_ERROR_TIMEOUT, "the guest '{}' was not done within {} ms", model, limits.guest.run_timeout_ms);
    case Kind::kTrapped:
      Throw(WASINN_ERROR_RUNTIME, "the guest '{}' ended in a trap", model);
    case Kind::kFailed:
      Throw(WASINN_ERROR_RUNTIME, "the guest '{}' could not run", model);
  }
  std::unreachable();
}

void GuestModels::Load(const Tenant& tenant, const std::string& model) {
  const auto wrong = [&](const std::string& why) { ThrowInvalid("the guest model '{}': {}", model, why); };
  if (model.empty() || model.size() > kMaxName) wrong("a name has 1 to 4096 bytes");
  const auto named = options_.files.find(model);
  auto program = engine_->Load(named->second.file);
  if (!program) wrong(program.error());
  auto loaded = std::make_shared<Loaded>(std::move(*program));
  std::string why;
  try {
    Run(named->first, tenant, nullptr, [&](const engines::RunOptions& options) {
      engines::Exit exit = loaded->program->Describe(options, kMaxDescription, loaded->ios);
      why = exit.message.substr(0, exit.message.find('\n'));
      return exit;
    });
  } catch (const Failure& failure) {
    wrong("it does not describe itself: " + (why.empty() ? failure.message : why));
  }
  const auto checked = Try([&] { CheckIos(loaded->ios); });
  if (!checked) wrong(checked.error().message);
  std::shared_ptr<const Loaded> now = std::move(loaded);  // the last one is freed after the lock
  const std::lock_guard lock(mutex_);
  loaded_[model].swap(now);
}

void GuestModels::Unload(const std::string& model) {
  std::shared_ptr<const Loaded> last;  // freed after the lock
  const std::lock_guard lock(mutex_);
  last = std::exchange(loaded_[model], nullptr);
}

void GuestModels::UnloadAsIn(const GuestModels& other) {
  for (const auto& [name, file] : options_.files) {
    if (other.Has(name) && other.Look(name) == nullptr) Unload(name);
  }
}

std::shared_ptr<const GuestModels::Loaded> GuestModels::Find(const std::string& model,
                                                             const std::string& version) const {
  if (!version.empty() && version != kVersion) {
    Throw(WASINN_ERROR_NOT_FOUND, "there is no model '{}' version {}", model, version);
  }
  if (auto loaded = Look(model)) return loaded;
  Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' is unloaded", model);
}

std::shared_ptr<const GuestModels::Loaded> GuestModels::Look(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(model);
  return found == loaded_.end() ? nullptr : found->second;
}

std::vector<OutputTensor> GuestModels::ToOutputs(const Loaded& loaded, const InferRequest& request,
                                                 engines::ModelAnswer answer, Room room) const {
  using Kind = engines::ModelAnswer::Kind;
  const auto failed = [&] [[noreturn]] (std::string_view why) {
    Throw(WASINN_ERROR_RUNTIME, "the guest '{}': {}", request.model, why);
  };
  if (room.is_too_large) failed(fmt::format("it answered with more than {} bytes", room.most));
  if (room.is_short) throw NoMemory();
  if (answer.kind == Kind::kNone) failed("it exited without an answer");
  if (answer.kind == Kind::kInvalidArgument) throw Invalid(std::string(FirstOf(answer.message)));
  if (answer.kind == Kind::kFailed) failed(FirstOf(answer.message));
  answer.owner = std::make_shared<ChargedBytes>(std::move(answer.owner), std::move(room.charge));
  try {
    return TakeOutputs(loaded.ios, request.outputs, answer);
  } catch (const Failure& failure) {
    failed(failure.message);
  }
}

InferResponse GuestModels::InferNow(const Loaded& loaded, const Tenant& tenant, const InferRequest& request,
                                    Cancellation* cancellation) {
  std::vector<std::vector<uint64_t>> shapes;
  auto model_request = ToModelRequest(loaded.ios, request, shapes);
  model_request.most_bytes = options_.code.most_output + kMaxAround;
  Room room{Charge(tenant.budget()), options_.code.most_output};
  model_request.charge = [&room](uint64_t bytes) { return room.Take(bytes); };
  engines::ModelAnswer answer;
  const auto ran = Try([&] {
    Run(request.model, tenant, cancellation,
        [&](const engines::RunOptions& options) { return loaded.program->Infer(options, model_request, answer); });
  });
  if (cancellation != nullptr && cancellation->is_cancelled()) throw ClientGone();
  if (!ran) throw ran.error();
  return {request.model, kVersion, ToOutputs(loaded, request, std::move(answer), std::move(room))};
}

InferResponse GuestModels::Infer(const Tenant& tenant, const InferRequest& request, Cancellation* cancellation) {
  const auto loaded = Find(request.model, request.version);
  const auto start = std::chrono::steady_clock::now();
  auto inferred = Try([&] { return InferNow(*loaded, tenant, request, cancellation); });
  statistics_->Add(request.model, inferred.has_value(), std::chrono::steady_clock::now() - start);
  return OrThrow(std::move(inferred));
}

namespace {

using engines::ModelIo;
using engines::ModelIos;
using engines::ModelTensor;

const Datatype& DatatypeOrBytes(wasinn_dtype dtype) {
  const Datatype* const found = FindDatatype(dtype);
  return found == nullptr ? Bytes() : *found;
}

const ModelIo* FindModelIo(const std::vector<ModelIo>& ios, std::string_view name) {
  const auto found = std::ranges::find(ios, name, &ModelIo::name);
  return found == ios.end() ? nullptr : &*found;
}

// Names of guests appear in messages, and may be long.
std::string Shortened(std::string_view name) {
  constexpr size_t kMax = 100;
  return name.size() <= kMax ? std::string(name) : std::string(name.substr(0, kMax)) + "…";
}

void CheckIo(const char* what, const ModelIo& io, std::set<std::string_view>& names) {
  const auto wrong = [&](const std::string& why) { ThrowInvalid("its {} '{}' {}", what, Shortened(io.name), why); };
  if (io.name.empty() || io.name.size() > kMaxName) wrong("has a name of no or of more than 4096 bytes");
  if (!names.insert(io.name).second) wrong("is described twice");
  if (io.shape.size() > WASINN_MAX_RANK) wrong(fmt::format("has more than {} dimensions", WASINN_MAX_RANK));
  for (const int64_t dim : io.shape) {
    if (dim < -1) wrong(fmt::format("has {} for a dimension", dim));
  }
}

bool Fits(const std::vector<int64_t>& described, const auto& shape) {
  return std::ranges::equal(described, shape,
                            [](int64_t any, auto dim) { return any == -1 || std::cmp_equal(any, dim); });
}

// The error in a tensor of this io; "": none.
std::string WhyNot(const ModelIo& io, const ModelTensor& tensor) {
  const Datatype& datatype = DatatypeOf(io);
  if (io.dtype != tensor.dtype)
    return fmt::format("is of {}, not {}", datatype.name, DatatypeOrBytes(tensor.dtype).name);
  if (!Fits(io.shape, tensor.shape)) {
    return fmt::format("has the shape [{}], not [{}]", fmt::join(io.shape, ","),
                       fmt::join(tensor.shape.first(std::min<size_t>(tensor.shape.size(), WASINN_MAX_RANK)), ","));
  }
  uint64_t elements = 1;
  for (const uint64_t dim : tensor.shape) {
    if (dim > INT64_MAX || __builtin_mul_overflow(elements, dim, &elements))
      return "has a shape that no tensor can have";
  }
  if (datatype.size == 0) {
    const auto is = CountElements(tensor.data);
    if (!is) return "has bytes that are not BYTES: lengths and elements";
    if (*is != elements) return fmt::format("has {} elements, not the {} of its shape", *is, elements);
  } else if (uint64_t bytes = 0;
             __builtin_mul_overflow(elements, datatype.size, &bytes) || bytes != tensor.data.size()) {
    return fmt::format("has {} bytes, not those of {} elements", tensor.data.size(), elements);
  }
  return "";
}

}  // namespace

const Datatype& DatatypeOf(const ModelIo& io) { return DatatypeOrBytes(io.dtype); }

void CheckIos(const ModelIos& ios) {
  if (ios.inputs.size() > kMaxTensors || ios.outputs.size() > kMaxTensors) {
    ThrowInvalid("it describes more than {} inputs or outputs", kMaxTensors);
  }
  if (ios.outputs.empty()) ThrowInvalid("it describes no output");
  std::set<std::string_view> inputs, outputs;
  for (const ModelIo& io : ios.inputs) CheckIo("input", io, inputs);
  for (const ModelIo& io : ios.outputs) CheckIo("output", io, outputs);
}

engines::ModelRequest ToModelRequest(const ModelIos& ios, const InferRequest& request,
                                     std::vector<std::vector<uint64_t>>& shapes) {
  engines::ModelRequest to;
  std::set<std::string_view> names;
  shapes.reserve(request.inputs.size());  // pointers into it must stay valid
  for (const InputTensor& input : request.inputs) {
    const ModelIo* const io = FindModelIo(ios.inputs, input.name);
    if (io == nullptr) ThrowInvalid("the model has no input '{}'", input.name);
    if (!names.insert(io->name).second) ThrowInvalid("input '{}' is given twice", input.name);
    shapes.emplace_back(input.shape.begin(), input.shape.end());
    const ModelTensor tensor = {io->name, input.datatype->dtype, shapes.back(), input.bytes()};
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) ThrowInvalid("input '{}' {}", input.name, why);
    to.inputs.push_back(tensor);
  }
  for (const ModelIo& io : ios.inputs) {
    if (!names.contains(io.name)) ThrowInvalid("input '{}' is missing", io.name);
  }
  names.clear();
  for (const std::string& output : request.outputs) {
    const ModelIo* const io = FindModelIo(ios.outputs, output);
    if (io == nullptr) ThrowInvalid("the model has no output '{}'", output);
    if (!names.insert(io->name).second) ThrowInvalid("output '{}' is asked for twice", output);
    to.outputs.emplace_back(io->name);
  }
  return to;
}

std::vector<OutputTensor> TakeOutputs(const ModelIos& ios, const std::vector<std::string>& wanted,
                                      const engines::ModelAnswer& answer) {
  const std::set<std::string_view> exchange(wanted.begin(), wanted.end());
  std::set<std::string_view> names;
  std::vector<OutputTensor> outputs;
  for (const ModelTensor& tensor : answer.tensors) {
    const auto wrong = [&](const std::string& why) {
      Throw(WASINN_ERROR_RUNTIME, "its output '{}' {}", Shortened(tensor.name), why);
    };
    const ModelIo* const io = FindModelIo(ios.outputs, tensor.name);
    if (io == nullptr) wrong("is not one that it described");
    if (!names.insert(io->name).second) wrong("is given twice");
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) wrong(why);
    if (!exchange.empty() && !exchange.contains(io->name)) continue;
    outputs.push_back({.name = io->name,
                       .datatype = &DatatypeOf(*io),
                       .shape = {tensor.shape.begin(), tensor.shape.end()},
                       .bytes = tensor.data,
                       .owner = answer.owner});
  }
  for (const ModelIo& io : ios.outputs) {
    const bool is_wanted = exchange.empty() || exchange.contains(io.name);
    if (!is_wanted || names.contains(io.name)) continue;
    Throw(WASINN_ERROR_RUNTIME, "it gave no output '{}'", Shortened(io.name));
  }
  return outputs;
}

}  // namespace wasinn::serve
