#include "tflite/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "common/dtype.h"
#include "common/target.h"
#include "common/throw.h"
#include "tflite/memory.h"
#include "tflite/shape_check.h"

namespace wasinn::tflite {

using backend::Error;
using backend::Throw;

namespace {

constexpr uintptr_t kWeightsAlignment = 16;  // the alignment of buffers within the file, by the schema

backend::AlignedBuffer CopyOf(const uint8_t* data, size_t size) {
  backend::AlignedBuffer copy;
  copy.Assign(data, size);
  return copy;
}

// A copy of bytes that TensorFlow Lite could not read in place.
backend::KeptBytes BytesOf(std::span<const wasinn_builder> builders, const wasinn_load_options& options) {
  const wasinn_builder& builder = backend::OneBuilder(builders, options, "tensorflowlite", "a TensorFlow Lite model");
  constexpr char kIdentifier[] = "TFL3";
  if (builder.size < 8 || std::memcmp(builder.data + 4, kIdentifier, 4) != 0) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "no TensorFlow Lite model: its {} bytes have no TFL3 at offset 4",
          builder.size);
  }
  const bool is_aligned = reinterpret_cast<uintptr_t>(builder.data) % kWeightsAlignment == 0;
  return is_aligned ? backend::KeptBytes(builder)
                    : backend::KeptBytes(CopyOf(builder.data, builder.size), builder.size);
}

// Ways to serve a target, best first: names of delegates; "": the CPU. Throws if there is none.
std::vector<std::string> WaysOf(uint32_t target, const BackendConfig& config) {
  std::vector<std::string> ways;
  const auto serves = [target](uint32_t one) { return target == one || target == WASINN_TARGET_AUTO; };
  if (serves(WASINN_TARGET_GPU) && !config.gpu_delegate.empty()) ways.push_back(config.gpu_delegate);
  if (serves(WASINN_TARGET_TPU) && !config.tpu_delegate.empty()) ways.push_back(config.tpu_delegate);
  if (serves(WASINN_TARGET_CPU)) ways.emplace_back();
  if (!ways.empty()) return ways;
  const char* name = target == WASINN_TARGET_GPU ? "gpu" : "tpu";
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "target {}: no delegate serves it; name one with {}_delegate in [backends.tflite]", name, name);
}

bool HasOpenShapes(const ModelScan& scan) {
  return std::ranges::any_of(scan.inputs, [](const ScannedPort& input) {
    return !input.has_shape || std::ranges::any_of(input.shape, [](int32_t dim) { return dim < 0; });
  });
}

// Preparing a model takes memory by the sizes of its tensors, which its file chooses. XNNPACK believes the file even if
// TensorFlow Lite would find another shape, and computes at address 0 if it gets no memory.
void CheckSizes(const ModelScan& scan, uint64_t max_bytes) {
  for (const ScannedPort& input : scan.inputs) {
    if (max_bytes == 0 || input.bytes <= max_bytes) continue;
    Throw(WASINN_ERROR_TOO_LARGE, "input '{}' has {} elements: no more than {} bytes are allowed", input.name,
          input.bytes, max_bytes);
  }
  if (max_bytes == 0 || scan.bytes <= max_bytes) return;
  Throw(WASINN_ERROR_TOO_LARGE, "the model's tensors have {} elements: no more than {} bytes are allowed", scan.bytes,
        max_bytes);
}

// Whether TensorFlow Lite reports an operator that it does not know; the second message is about TensorFlow's
// operators.
bool IsOfUnknownOperator(std::string_view message) {
  return message.contains("unresolved custom op") || message.contains("Select TensorFlow op");
}

// Or made for one.
bool IsOfGuest(const wasinn_builder& builder, const wasinn_load_options& options) {
  return builder.path == nullptr || options.account != nullptr;
}

}  // namespace

Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : ModelBase(host),
      bytes_(BytesOf(builders, options)),
      config_(ModelConfig::Parse(options.host_config, options.guest_config, host.config())),
      named_(!IsOfGuest(builders.front(), options)),
      model_(nullptr, host.library().model_delete),
      idle_(host.config().idle_interpreters, &host.idle_threads(),
            named_ ? backend::Reservation() : host.NewIdleReservation()) {
  const TfLiteLibrary& library = host.library();
  const Trust trust = builders.front().path == nullptr ? Trust::kGuest : Trust::kHost;
  ChooseSignature(trust);
  const std::span<const uint8_t> bytes = bytes_.get();
  // Runs FlatBuffers' verifier over the bytes.
  model_.reset(library.model_create_with_reporter != nullptr
                   ? library.model_create_with_reporter(bytes.data(), bytes.size(), Messages::Report, &messages_)
                   : library.model_create(bytes.data(), bytes.size()));
  if (model_ == nullptr) Throw(WASINN_ERROR_INVALID_ENCODING, "no TensorFlow Lite model: {}", messages_.Take());
  scan_ = ScanModel(bytes, trust, config_.signature);
  for (const std::string& path : config_.op_libraries) op_libraries_.emplace_back(path);
  CheckSizes(scan_, options.max_bytes);
  CheckShapesFor({});
  if (config_.delegates) {
    LoadOn(*config_.delegates);
  } else {
    backend::LoadOnTarget(
        options, host.fallback(), /*cpu=*/std::string(), [&] { return WaysOf(options.target, host.config()); },
        [&](const std::string& way) {
          LoadOn(way.empty() ? std::vector<DelegateConfig>() : std::vector{*host.config().FindDelegate(way)});
        });
  }
  WriteDescription();
}

// TensorFlow Lite reports why bytes are no model.
void Model::ChooseSignature(Trust trust) {
  if (!IsVerified(bytes_.get())) return;
  const std::vector<std::string> keys = SignatureKeys(bytes_.get());
  if (config_.signature.empty()) {
    if (keys.size() < 2 || trust == Trust::kGuest) return;
    return host_.log().Write(
        WASINN_LOG_WARNING,
        fmt::format("the model has the signatures '{}': the first graph is computed (key signature)",
                    fmt::join(keys, "', '")));
  }
  const uint32_t graph = GraphOf(bytes_.get(), config_.signature);
  if (graph == 0) return;
  const size_t size = bytes_.get().size();
  backend::AlignedBuffer copy = CopyOf(bytes_.get().data(), size);
  MakeFirst({static_cast<uint8_t*>(copy.data()), size}, graph);
  bytes_ = backend::KeptBytes(std::move(copy), size);
}

void Model::LoadOn(const std::vector<DelegateConfig>& delegates) {
  delegates_.clear();
  for (const DelegateConfig& delegate : delegates) delegates_.emplace_back(delegate);
  uses_xnnpack_ = config_.xnnpack && Xnnpack::IsIn(host_.library());
  // An accelerator's delegate should not be made one time more than it is used, only to pack the weights of the rest.
  if (uses_xnnpack_) xnnpack_ = std::make_unique<Xnnpack>(host_.library(), host_.log(), delegates_.empty());
  // With one thread: a context that may have more leases those that its own interpreter starts.
  std::unique_ptr<Interpreter> interpreter = NewInterpreter(1);
  signature_ = std::make_unique<Signature>(*interpreter, scan_);
  if (!has_state()) signature_->set_shares_slots();
  signature_->set_stateful(has_state());
  if (named_) WarnOfInputs(*interpreter);
  lasting_bytes_ = LastingBytes(*interpreter);
  devices_ = interpreter->Devices(delegates_);
  GiveSession(std::make_unique<Session>(*signature_, std::move(interpreter)));
}

void Model::WarnOfInputs(const Interpreter& interpreter) const {
  const auto warn = [this](const char* why) {
    host_.log().Write(WASINN_LOG_WARNING, fmt::format("{}, so inputs may end this process or fill its memory: give it "
                                                      "isolate = true where guests are not trusted",
                                                      why));
  };
  if (HasShapesByValue(interpreter, scan_)) warn("shapes in this model depend on values");
  if (scan_.divides_integers) warn("this model divides integers by values, INT_MIN by -1 too");
}

std::unique_ptr<Interpreter> Model::TryInterpreter(int threads, const Xnnpack* xnnpack, bool* prepared) const {
  auto interpreter = std::make_unique<Interpreter>(
      host_.library(), model_.get(),
      InterpreterOptions{
          .threads = threads, .delegates = delegates_, .xnnpack = xnnpack, .op_libraries = op_libraries_});
  // With the shapes in the file, where unknown sizes are 1.
  *prepared = host_.library().allocate_tensors(interpreter->get()) == kTfLiteOk;
  if (!*prepared) {
    std::string message = interpreter->TakeMessages();
    if (scan_.has_deconvolution) message += fmt::format(" ({}: only XNNPACK computes it)", kDeconvolution);
    const bool unknown = scan_.has_deconvolution && xnnpack == nullptr;
    if (!HasOpenShapes(scan_) || IsOfUnknownOperator(message)) {
      Throw(unknown ? WASINN_ERROR_UNSUPPORTED_OPERATION : WASINN_ERROR_INVALID_ENCODING, "preparing the model: {}",
            message);
    }
  }
  return interpreter;
}

uint64_t Model::CheckShapesFor(const std::vector<std::vector<int>>& dims) const {
  const bool is_risky = !scan_.windows.empty() || scan_.has_deconvolution;
  if (!is_risky && (dims.empty() || !uses_xnnpack_)) return 0;
  const TfLiteLibrary& library = host_.library();
  const OperatorPtr deconvolution = NewDeconvolutionCheck(library);
  if (scan_.has_deconvolution && deconvolution == nullptr) return 0;
  const Interpreter plain(library, model_.get(),
                          InterpreterOptions{.op_libraries = op_libraries_, .more = deconvolution.get()});
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto rank = static_cast<int32_t>(dims[i].size());
    library.resize_input(plain.get(), static_cast<int32_t>(i), dims[i].data(), rank);
  }
  if (library.allocate_tensors(plain.get()) == kTfLiteOk) {
    if (is_risky) CheckShapes(plain, scan_);
    return PlanOf(plain, scan_).lasting();
  }
  if (dims.empty() && HasOpenShapes(scan_)) return 0;
  const std::string message = plain.TakeMessages();
  // Perhaps only a delegate knows such an operator, and then the CPU's kernels cannot check it.
  if (scan_.has_custom_ops && IsOfUnknownOperator(message)) return 0;
  // XNNPACK would accept shapes that TensorFlow Lite refuses.
  Throw(dims.empty() ? WASINN_ERROR_INVALID_ENCODING : WASINN_ERROR_INVALID_ARGUMENT,
        "the model cannot be prepared: {}", message);
}

// Before any other interpreter is made.
void Model::PackWeights() const {
  bool prepared = false;
  std::unique_ptr<Interpreter> packer = TryInterpreter(1, xnnpack_.get(), &prepared);
  if (prepared) return xnnpack_->PackedAll();
  packer.reset();  // it points to an object that is destroyed here
  // It has not packed anything, and afterwards nothing can be added.
  xnnpack_ = std::make_unique<Xnnpack>(host_.library(), host_.log(), false);
}

std::unique_ptr<Interpreter> Model::NewInterpreter(int threads) const {
  const std::lock_guard lock(making_);
  bool prepared = false;
  if (uses_xnnpack_) {
    try {
      if (xnnpack_->must_pack()) PackWeights();
      return TryInterpreter(threads, xnnpack_.get(), &prepared);
    } catch (const Error&) {
      // Either the model is broken, which the next attempt reports, or XNNPACK does not support it.
      if (signature_ != nullptr) throw;
      uses_xnnpack_ = false;
    }
  }
  return TryInterpreter(threads, nullptr, &prepared);
}

uint64_t Model::LastingBytes(const Interpreter& interpreter) const {
  const bool packs_for_itself = uses_xnnpack_ && !xnnpack_->shares_weights();
  return backend::AddSat(PlanOf(interpreter, scan_).lasting(), packs_for_itself ? scan_.constants : 0);
}

void Model::GiveSession(std::unique_ptr<Session> session) const noexcept try {
  if (scan_.keeps_state) return;
  if (const std::optional<uint64_t> bytes = session->Reset(*this, lasting_bytes()))
    idle_.Give(std::move(session), *bytes);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no memory to remember it; then it goes
}

void Model::WriteDescription() {
  std::vector<std::string> names;
  names.reserve(delegates_.size());
  for (const DelegateLibrary& delegate : delegates_) names.push_back(fmt::format("\"{}\"", delegate.name()));
  description_ = fmt::format(
      R"({{"device": "{}", "delegates": [{}], "xnnpack": {}, "shared_weights": {}, "stateful": {}, "threads": {}}})",
      devices_, fmt::join(names, ", "), uses_xnnpack_, uses_xnnpack_ && xnnpack_->shares_weights(), has_state(),
      threads());
}

}  // namespace wasinn::tflite
