#include "llama/model.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/on_cancel.h"
#include "common/target.h"
#include "common/throw.h"
#include "llama/batcher.h"
#include "llama/log_scope.h"
#include "llama/model_file.h"
#include "llama/other_file.h"
#include "llama/shared_prompt.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;

namespace {

const wasinn_builder& TheBuilder(std::span<const wasinn_builder> builders, const wasinn_load_options& options) {
  if (builders.size() != 1) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "expected one builder for a GGUF model: found {}", builders.size());
  }
  if (std::string_view(options.format) != "ggml")
    Throw(WASINN_ERROR_INVALID_ENCODING, "this backend loads GGUF models");
  return builders.front();
}

// Checks the number first, because ggml does not check it against its table.
GgufBlock BlockOf(const LlamaLibrary& library, uint32_t number) {
  if (number >= GGML_TYPE_COUNT) return {};
  const auto type = static_cast<ggml_type>(number);
  const bool is_on_the_way = type == GGML_TYPE_Q8_1 || type == GGML_TYPE_Q8_K;
  return {.elements = static_cast<uint64_t>(library.block_elements(type)),
          .bytes = library.block_bytes(type),
          .packs_weights = library.is_quantized(type) && !is_on_the_way};
}

ModelScan Scan(const Host& host, const wasinn_builder& builder) {
  return ScanGguf({builder.data, builder.size},
                  {.block_of = [&host](uint32_t type) { return BlockOf(host.library(), type); },
                   .of_guest = builder.path == nullptr});
}

constexpr int64_t kAnyLength[] = {-1};
constexpr int64_t kAnyShape[] = {-1, -1};
constexpr wasinn_io Bytes(const char* name, uint32_t flags, const char* type) {
  return {sizeof(wasinn_io), WASINN_DTYPE_U8, flags, 1, kAnyLength, name, type};
}
constexpr wasinn_io kPrompt = Bytes("prompt", WASINN_IO_OPAQUE, "text");
constexpr wasinn_io kOptions = Bytes("options", WASINN_IO_OPAQUE | WASINN_IO_OPTIONAL, "JSON");
constexpr wasinn_io kCompletion = Bytes("completion", 0, "text");
constexpr wasinn_io kMetadata = Bytes("metadata", WASINN_IO_ALWAYS, "JSON");
constexpr wasinn_io kTokens = {sizeof(wasinn_io), WASINN_DTYPE_I32, WASINN_IO_OPTIONAL | WASINN_IO_ROW, 2, kAnyShape,
                               "tokens",          "token"};
constexpr const wasinn_io* kInputs[] = {&kPrompt, &kOptions, &kTokens};
constexpr wasinn_io kMessage = Bytes("message", 0, "JSON");
constexpr wasinn_io kProbabilities = Bytes("probabilities", 0, "JSON");
constexpr wasinn_io kEmbeddings = {sizeof(wasinn_io), WASINN_DTYPE_F32, 0, 2, kAnyShape, "embeddings", "float"};
constexpr wasinn_io kStepProbabilities = Bytes("step_probabilities", 0, "JSON");
constexpr wasinn_io kLogits = {sizeof(wasinn_io), WASINN_DTYPE_F32, 0, 2, kAnyShape, "logits", "float"};
constexpr wasinn_io kLogitTokens = {sizeof(wasinn_io), WASINN_DTYPE_I32, 0, 2, kAnyShape, "logit_tokens", "token"};
constexpr wasinn_io kStepTokens = {sizeof(wasinn_io), WASINN_DTYPE_I32, 0, 1, kAnyLength, "step_tokens", "token"};
constexpr wasinn_io kGeneration = Bytes("generation", 0, "JSON");
constexpr const wasinn_io* kOutputs[] = {&kCompletion,        &kMetadata, &kMessage,     &kProbabilities, &kEmbeddings,
                                         &kStepProbabilities, &kLogits,   &kLogitTokens, &kStepTokens,    &kGeneration};
// Many are evaluated together, and calls wait in the batcher.
constexpr wasinn_info kInfo = {sizeof(wasinn_info), std::size(kInputs), std::size(kOutputs), kInputs, kOutputs,
                               UINT32_MAX};

// Best first. Throws if the target's device is missing.
std::vector<Device> DevicesFor(uint32_t target, const LlamaLibrary& library) {
  const bool has_gpu = library.FindDevice(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr;
  if (target == WASINN_TARGET_GPU && has_gpu) return {Device::kGpu};
  if (target == WASINN_TARGET_AUTO && has_gpu) return {Device::kGpu, Device::kCpu};
  if (target == WASINN_TARGET_CPU || target == WASINN_TARGET_AUTO) return {Device::kCpu};
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "target {}: llama.cpp has no such device here; it has {}",
        target == WASINN_TARGET_GPU ? "gpu" : "tpu", library.Devices());
}

}  // namespace

Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : host_(host),
      of_guest_(TheBuilder(builders, options).path == nullptr),
      scan_(Scan(host, builders.front())),
      reservation_(host.services(), options.account),
      config_(ModelConfig::Parse(options.host_config, options.guest_config, host.config(), scan_)),
      model_(nullptr, {&host.library()}),
      chat_templates_(*this, options.account) {
  reservation_.Resize(scan_.kept_bytes());
  backend::LoadOnTarget(
      options, host.fallback(), Device::kCpu, [&] { return DevicesFor(options.target, host.library()); },
      [&](Device device) { Load(builders.front(), options, device); });
  const LlamaLibrary& library = host_.library();
  vocabulary_ = library.model_get_vocab(get());
  vocabulary_size_ = static_cast<size_t>(library.vocab_n_tokens(vocabulary_));
  encodes_ = library.model_has_encoder(get()) && !library.model_has_decoder(get());
  recurrent_ = library.model_is_recurrent(get()) || library.model_is_hybrid(get());
  window_ = static_cast<size_t>(std::max(library.model_n_swa(get()), 0));
  CheckVocabulary();
  FindEndTokens();
  LoadLoras();
  if (!config_.projector.path.empty()) {
    RequireOtherFile("projector", config_.projector.path);  // before its library, which a worker would not find either
    projector_ = std::make_unique<Projector>(*this, config_.projector, options);
  }
  WriteDescription();
  if (!config_.draft.path.empty()) draft_ = LoadDraft(*this, config_.draft, options);
  if (config_.parallel > 0) {
    batcher_ = std::make_unique<Batcher>(*this, config_.defaults, config_.parallel, options.max_bytes, options.account);
  }
  if (!config_.shared_prompt.empty()) shared_prompt_ = EvaluateSharedPrompt(*this, config_.shared_prompt, options);
}

Model::~Model() = default;

const wasinn_info* Model::info() const { return &kInfo; }

void Model::Load(const wasinn_builder& builder, const wasinn_load_options& options, Device device) {
  const LlamaLibrary& library = host_.library();
  const LogScope scope(host_.log(), config_.defaults.log);
  std::atomic<bool> stopped = false;
  const base::OnCancel cancel(options, [&stopped] { stopped = true; });
  ggml_backend_dev_t no_devices[] = {nullptr};
  llama_model_params params = library.model_default_params();
  on_gpu_ = device == Device::kGpu && config_.gpu_layers != 0;
  params.n_gpu_layers = on_gpu_ ? config_.gpu_layers : 0;
  if (!on_gpu_) params.devices = no_devices;
  GpuSplit split = config_.split;
  if (on_gpu_) {
    split.Fill(library, &params);
  } else if (!split.keys.empty()) {
    host_.log().Write(WASINN_LOG_WARNING, fmt::format("{}: of no effect: the model is not on a GPU", split.keys));
  }
  params.load_mode = config_.map ? LLAMA_LOAD_MODE_MMAP : LLAMA_LOAD_MODE_NONE;
  // llama.cpp regularly asks whether to continue.
  params.progress_callback = [](float /*progress*/, void* stop) { return !*static_cast<std::atomic<bool>*>(stop); };
  params.progress_callback_user_data = &stopped;
  if (HasFile(builder)) {
    model_.reset(library.model_load_from_file(builder.path, params));
  } else {
    FilePtr file = FileInMemory(builder);
    if (file == nullptr) {
      params.load_mode = LLAMA_LOAD_MODE_NONE;
      file = BytesAsFile(builder);
    }
    model_.reset(library.model_load_from_file_ptr(file.get(), params));
  }
  if (stopped) Throw(WASINN_ERROR_TIMEOUT, "loading the model was cancelled");
  if (model_ == nullptr) {
    const std::string words = scope.Errors("it gives no reason");
    // llama.cpp reports a newer version and garbage alike.
    const bool may_be_newer =
        words.contains("unknown model architecture") || words.contains("unknown pre-tokenizer type");
    Throw(WASINN_ERROR_INVALID_ENCODING, "llama.cpp cannot load the model: {}{}", words,
          may_be_newer ? fmt::format(": if the model is newer than llama.cpp {}, use a newer one", library.version())
                       : "");
  }
}

// llama.cpp only asserts these when it tokenizes.
void Model::CheckVocabulary() const {
  const LlamaLibrary& library = host_.library();
  const bool no_text = library.vocab_type(vocabulary_) == LLAMA_VOCAB_TYPE_NONE || vocabulary_size_ == 0;
  const bool no_begin = library.vocab_get_add_bos(vocabulary_) && library.vocab_bos(vocabulary_) == LLAMA_TOKEN_NULL;
  const bool no_end = library.vocab_get_add_eos(vocabulary_) && library.vocab_eos(vocabulary_) == LLAMA_TOKEN_NULL;
  const bool no_separator =
      library.vocab_get_add_sep(vocabulary_) && library.vocab_sep(vocabulary_) == LLAMA_TOKEN_NULL;
  if (no_text || no_begin || no_end || no_separator) {
    throw Error(WASINN_ERROR_INVALID_ENCODING,
                no_text ? "the model has no vocabulary"
                        : "the model's special token at the beginning or end of a text is missing");
  }
  if (library.model_has_encoder(get()) && library.model_has_decoder(get())) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "models with an encoder and a decoder are not supported");
  }
}

void Model::FindEndTokens() {
  constexpr size_t kMax = 64;
  for (size_t i = 0; i < vocabulary_size_ && end_tokens_.size() < kMax; ++i) {
    const auto token = static_cast<llama_token>(i);
    if (host_.library().vocab_is_eog(vocabulary_, token)) end_tokens_.push_back(token);
  }
}

namespace {

[[noreturn]] void RefuseToGenerate() {
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model generates no text: ask for embeddings with \"embedding\": true");
}

}  // namespace

void Model::CheckGenerates() const {
  if (encodes_ || !scan_.causal || host_.library().model_is_diffusion(get())) RefuseToGenerate();
}

void Model::CheckGenerates(llama_context* context) const {
  if (host_.library().get_memory(context) == nullptr) RefuseToGenerate();
}

void Model::LoadLoras() {
  for (const auto& [name, path] : config_.loras) {
    RequireOtherFile("loras: " + name, path);
    const LogScope scope(host_.log(), config_.defaults.log);
    llama_adapter_lora* lora = host_.library().adapter_lora_init(get(), path.c_str());
    if (lora == nullptr) {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "loras: {}: {}: {}", name, path, scope.Errors("cannot be loaded"));
    }
    loras_.emplace(name, lora);
  }
}

void Model::WriteDescription() {
  const LlamaLibrary& library = host_.library();
  char text[256] = "";
  library.model_desc(get(), text, sizeof(text));
  const nlohmann::json description = {{"device", on_gpu_ ? "gpu" : "cpu"},
                                      {"model", text},
                                      {"name", scan_.name},
                                      {"architecture", scan_.architecture},
                                      {"parameters", library.model_n_params(get())},
                                      {"bytes", library.model_size(get())},
                                      {"vocabulary", vocabulary_size_},
                                      {"trained_context", scan_.trained_context},
                                      {"context", config_.defaults.context},
                                      {"chat_template", library.model_chat_template(get(), nullptr) != nullptr},
                                      {"images", projector_ != nullptr && projector_->sees()},
                                      {"sounds", projector_ != nullptr && projector_->hears()},
                                      {"parallel", config_.parallel}};
  description_ = description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::llama
