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
constexpr uint64_t kMostDescription = 1u << 20;
// The limit of an answer in addition to the bytes of its tensors.
constexpr uint64_t kMostAround = 8u << 20;
// The limit of a guest's error message, in bytes.
constexpr size_t kMostMessage = 1000;

// Valid UTF-8, with whole characters.
std::string_view FirstOf(std::string_view message) {
  size_t size = std::min(message.size(), kMostMessage);
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
    auto own = options_.code.own_settings(guest.policy);
    if (!own) ThrowInvalid("the guest model '{}': {}", name, own.error().message);
    own_[name] = std::move(*own);
    OrThrow(Load(tenant, name));
  }
}

Outcome<void> GuestModels::Run(const std::string& model, const Tenant& tenant, Cancellation* cancellation,
                               const GuestRuns::Program& run) {
  const GuestSettings* const own = own_.at(model).get();
  const bool has_limits = options_.files.at(model).has_limits;
  RunLimits limits = GuestRuns::LimitsFor(has_limits ? *own : tenant.settings());
  limits.guest.max_log_messages = 0;  // the guest gets its errors, and may log them itself
  const Policy& policy = (own == nullptr ? tenant.settings() : *own).policy();
  const auto exit = runs_.Run({model, model, policy, limits, cancellation}, {}, {}, run);
  if (!exit) return std::unexpected(exit.error());
  using Kind = engines::Exit::Kind;
  switch (exit->kind) {
    case Kind::kExited:
      return {};
    case Kind::kInterrupted:
      return Refuse(WASINN_ERROR_TIMEOUT, "the guest '{}' was not done within {} ms", model,
                    limits.guest.run_timeout_ms);
    case Kind::kTrapped:
      return Refuse(WASINN_ERROR_RUNTIME, "the guest '{}' ended in a trap", model);
    case Kind::kFailed:
      return Refuse(WASINN_ERROR_RUNTIME, "the guest '{}' could not run", model);
  }
  std::unreachable();
}

Outcome<void> GuestModels::Load(const Tenant& tenant, const std::string& model) {
  const auto wrong = [&](const std::string& why) { return Refuse("the guest model '{}': {}", model, why); };
  if (model.empty() || model.size() > kMostName) return wrong("a name has 1 to 4096 bytes");
  const auto named = options_.files.find(model);
  auto program = engine_->Load(named->second.file);
  if (!program) return wrong(program.error());
  auto loaded = std::make_shared<Loaded>(std::move(*program));
  std::string why;
  const auto described = Run(named->first, tenant, nullptr, [&](const engines::RunOptions& options) {
    engines::Exit exit = loaded->program->Describe(options, kMostDescription, loaded->ios);
    why = exit.message.substr(0, exit.message.find('\n'));
    return exit;
  });
  if (!described) return wrong("it does not describe itself: " + (why.empty() ? described.error().message : why));
  if (auto checked = CheckIos(loaded->ios); !checked) return wrong(checked.error().message);
  std::shared_ptr<const Loaded> now = std::move(loaded);  // the last one is freed after the lock
  const std::lock_guard lock(mutex_);
  loaded_[model].swap(now);
  return {};
}

void GuestModels::Unload(const std::string& model) {
  std::shared_ptr<const Loaded> last;  // freed after the lock
  const std::lock_guard lock(mutex_);
  last = std::exchange(loaded_[model], nullptr);
}

void GuestModels::UnloadAsIn(const GuestModels& other) {
  for (const auto& [name, file] : options_.files) {
    if (other.Has(name) && !other.Find(name, "")) Unload(name);
  }
}

std::vector<std::string> GuestModels::names() const {
  std::vector<std::string> names;
  names.reserve(options_.files.size());
  for (const auto& [name, file] : options_.files) names.push_back(name);
  return names;
}

Outcome<std::shared_ptr<const GuestModels::Loaded>> GuestModels::Get(const std::string& model,
                                                                     const std::string& version) const {
  if (!version.empty() && version != kVersion) {
    return Refuse(WASINN_ERROR_NOT_FOUND, "there is no model '{}' version {}", model, version);
  }
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(model);
  if (found != loaded_.end() && found->second != nullptr) return found->second;
  return Refuse(WASINN_ERROR_UNAVAILABLE, "model '{}' is unloaded", model);
}

Outcome<std::shared_ptr<const engines::ModelIos>> GuestModels::Find(const std::string& model,
                                                                    const std::string& version) const {
  auto loaded = Get(model, version);
  if (!loaded) return std::unexpected(std::move(loaded.error()));
  return std::shared_ptr<const engines::ModelIos>(*loaded, &(*loaded)->ios);
}

Outcome<std::vector<OutputTensor>> GuestModels::ToOutputs(const Loaded& loaded, const InferRequest& request,
                                                          engines::ModelAnswer answer, Room room) const {
  using Kind = engines::ModelAnswer::Kind;
  const auto failed = [&](std::string_view why) {
    return Refuse(WASINN_ERROR_RUNTIME, "the guest '{}': {}", request.model, why);
  };
  if (room.is_too_large) return failed(fmt::format("it answered with more than {} bytes", room.most));
  if (room.is_short) return std::unexpected(NoMemory());
  if (answer.kind == Kind::kNone) return failed("it exited without an answer");
  if (answer.kind == Kind::kInvalidArgument) return std::unexpected(Invalid(std::string(FirstOf(answer.message))));
  if (answer.kind == Kind::kFailed) return failed(FirstOf(answer.message));
  answer.owner = std::make_shared<ChargedBytes>(std::move(answer.owner), std::move(room.charge));
  auto outputs = TakeOutputs(loaded.ios, request.outputs, answer);
  if (!outputs) return failed(outputs.error().message);
  return outputs;
}

Outcome<InferResponse> GuestModels::InferNow(const Loaded& loaded, const Tenant& tenant, const InferRequest& request,
                                             Cancellation* cancellation) {
  std::vector<std::vector<uint64_t>> shapes;
  auto model_request = ToModelRequest(loaded.ios, request, shapes);
  if (!model_request) return std::unexpected(std::move(model_request.error()));
  model_request->most_bytes = options_.code.most_output + kMostAround;
  Room room{Charge(tenant.budget()), options_.code.most_output};
  model_request->charge = [&room](uint64_t bytes) { return room.Take(bytes); };
  engines::ModelAnswer answer;
  auto ran = Run(request.model, tenant, cancellation, [&](const engines::RunOptions& options) {
    return loaded.program->Infer(options, *model_request, answer);
  });
  if (cancellation != nullptr && cancellation->is_cancelled()) return std::unexpected(ClientGone());
  if (!ran) return std::unexpected(std::move(ran.error()));
  auto outputs = ToOutputs(loaded, request, std::move(answer), std::move(room));
  if (!outputs) return std::unexpected(std::move(outputs.error()));
  return InferResponse{request.model, kVersion, std::move(*outputs)};
}

Outcome<InferResponse> GuestModels::Infer(const Tenant& tenant, const InferRequest& request,
                                          Cancellation* cancellation) {
  const auto loaded = Get(request.model, request.version);
  if (!loaded) return std::unexpected(loaded.error());
  const auto start = std::chrono::steady_clock::now();
  auto inferred = InferNow(**loaded, tenant, request, cancellation);
  statistics_->Add(request.model, inferred.has_value(), std::chrono::steady_clock::now() - start);
  return inferred;
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
  constexpr size_t kMost = 100;
  return name.size() <= kMost ? std::string(name) : std::string(name.substr(0, kMost)) + "…";
}

Outcome<void> CheckIo(const char* what, const ModelIo& io, std::set<std::string_view>& names) {
  const auto wrong = [&](const std::string& why) { return Refuse("its {} '{}' {}", what, Shortened(io.name), why); };
  if (io.name.empty() || io.name.size() > kMostName) return wrong("has a name of no or of more than 4096 bytes");
  if (!names.insert(io.name).second) return wrong("is described twice");
  if (io.shape.size() > WASINN_MAX_RANK) return wrong(fmt::format("has more than {} dimensions", WASINN_MAX_RANK));
  for (const int64_t dim : io.shape) {
    if (dim < -1) return wrong(fmt::format("has {} for a dimension", dim));
  }
  return {};
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

Failure NotAsDescribed(const std::string& why) { return {WASINN_ERROR_RUNTIME, why}; }

}  // namespace

const Datatype& DatatypeOf(const ModelIo& io) { return DatatypeOrBytes(io.dtype); }

Outcome<void> CheckIos(const ModelIos& ios) {
  if (ios.inputs.size() > kMostTensors || ios.outputs.size() > kMostTensors) {
    return Refuse("it describes more than {} inputs or outputs", kMostTensors);
  }
  if (ios.outputs.empty()) return Refuse("it describes no output");
  std::set<std::string_view> inputs, outputs;
  for (const ModelIo& io : ios.inputs) {
    if (auto checked = CheckIo("input", io, inputs); !checked) return checked;
  }
  for (const ModelIo& io : ios.outputs) {
    if (auto checked = CheckIo("output", io, outputs); !checked) return checked;
  }
  return {};
}

Outcome<engines::ModelRequest> ToModelRequest(const ModelIos& ios, const InferRequest& request,
                                              std::vector<std::vector<uint64_t>>& shapes) {
  engines::ModelRequest to;
  std::set<std::string_view> names;
  shapes.reserve(request.inputs.size());  // pointers into it must stay valid
  for (const InputTensor& input : request.inputs) {
    const ModelIo* const io = FindModelIo(ios.inputs, input.name);
    if (io == nullptr) return Refuse("the model has no input '{}'", input.name);
    if (!names.insert(io->name).second) return Refuse("input '{}' is given twice", input.name);
    shapes.emplace_back(input.shape.begin(), input.shape.end());
    const ModelTensor tensor = {io->name, input.datatype->dtype, shapes.back(), input.bytes()};
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) return Refuse("input '{}' {}", input.name, why);
    to.inputs.push_back(tensor);
  }
  for (const ModelIo& io : ios.inputs) {
    if (!names.contains(io.name)) return Refuse("input '{}' is missing", io.name);
  }
  names.clear();
  for (const std::string& output : request.outputs) {
    const ModelIo* const io = FindModelIo(ios.outputs, output);
    if (io == nullptr) return Refuse("the model has no output '{}'", output);
    if (!names.insert(io->name).second) return Refuse("output '{}' is asked for twice", output);
    to.outputs.emplace_back(io->name);
  }
  return to;
}

Outcome<std::vector<OutputTensor>> TakeOutputs(const ModelIos& ios, const std::vector<std::string>& wanted,
                                               const engines::ModelAnswer& answer) {
  const std::set<std::string_view> exchange(wanted.begin(), wanted.end());
  std::set<std::string_view> names;
  std::vector<OutputTensor> outputs;
  for (const ModelTensor& tensor : answer.tensors) {
    const auto wrong = [&](const std::string& why) {
      return std::unexpected(NotAsDescribed(fmt::format("its output '{}' {}", Shortened(tensor.name), why)));
    };
    const ModelIo* const io = FindModelIo(ios.outputs, tensor.name);
    if (io == nullptr) return wrong("is not one that it described");
    if (!names.insert(io->name).second) return wrong("is given twice");
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) return wrong(why);
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
    return std::unexpected(NotAsDescribed(fmt::format("it gave no output '{}'", Shortened(io.name))));
  }
  return outputs;
}

}  // namespace wasinn::serve
