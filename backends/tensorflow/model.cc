#include "tensorflow/model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/model_bytes.h"
#include "common/target.h"
#include "common/throw.h"
#include "tensorflow/config.h"
#include "tensorflow/op_libraries.h"
#include "tensorflow/saved_model.h"

namespace wasinn::tensorflow {

using backend::Error;
using backend::Throw;

// The model's bytes, and options for its load.
struct Model::Source {
  std::span<const uint8_t> bytes;
  std::string path;  // empty: a guest's bytes
  ModelConfig config;
  Device device;
  uint64_t max_bytes;
  void* account;  // NULL: guests share the model

  bool from_guest() const { return path.empty(); }
};

namespace {

constexpr char kFileOfSavedModel[] = "saved_model.pb";

// TensorFlow loads a SavedModel without its variables' values, and then fails when it computes.
void CheckVariables(const GraphScan& scan, const std::filesystem::path& folder) {
  const bool has_variables = std::ranges::any_of(scan.nodes, [](const ScannedNode& node) {
    return node.op == "VarHandleOp" || node.op == "Variable" || node.op == "VariableV2";
  });
  const auto index = folder / "variables" / "variables.index";
  std::error_code ignored;
  if (!has_variables || std::filesystem::exists(index, ignored)) return;
  Throw(WASINN_ERROR_NOT_FOUND, "the SavedModel has variables, and their file is not there: '{}'", index.string());
}

// Copies of constants: in the graph, in the session's own graph, in its kernels.
constexpr uint64_t kCopiesOfConstants = 4;

// The memory that loading makes of a graph beyond some copies of its bytes.
uint64_t GrownBytes(const GraphScan& scan, size_t bytes) {
  return scan.more_bytes - std::min(scan.more_bytes, kCopiesOfConstants * bytes);
}

void CheckSize(const GraphScan& scan, size_t bytes, uint64_t max_bytes) {
  if (max_bytes == 0 || GrownBytes(scan, bytes) <= max_bytes) return;
  Throw(WASINN_ERROR_TOO_LARGE,
        "the graph's constants and nodes become {} bytes when it is loaded: no more than {} and four times its size "
        "are allowed",
        scan.more_bytes, max_bytes);
}

// The graph as a message and as nodes, and constants in kernels.
uint64_t SessionBytes(const GraphScan& scan, size_t bytes) {
  uint64_t sum = 0;
  return __builtin_add_overflow(2 * uint64_t{bytes}, scan.more_bytes, &sum) ? UINT64_MAX / 2 : sum;
}

// The values of a SavedModel's variables, which each session reads separately.
uint64_t VariableBytes(const std::filesystem::path& folder) {
  uint64_t sum = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "variables", failed)) {
    std::error_code ignored;
    const uint64_t bytes = entry.file_size(ignored);
    if (!ignored) sum += bytes;
  }
  return sum;
}

// Best first. Throws if the target's device is missing.
std::vector<Device> DevicesFor(uint32_t target, const Host& host) {
  if (target == WASINN_TARGET_CPU) return {Device::kCpu};
  if (target == WASINN_TARGET_AUTO) {
    return host.has_gpu() ? std::vector{Device::kGpu, Device::kCpu} : std::vector{Device::kCpu};
  }
  if (target == WASINN_TARGET_GPU && host.has_gpu()) return {Device::kGpu};
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              target == WASINN_TARGET_TPU
                  ? "target tpu: this backend computes on CPUs and, with a TensorFlow for CUDA, on GPUs"
                  : fmt::format("target gpu: {} finds no GPU: expected a TensorFlow for CUDA and a device",
                                host.library().path()));
}

TfGraph Import(const TfLibrary& library, std::span<const uint8_t> bytes) {
  TfGraph graph = NewGraph(library);
  const TfPtr<TF_Status> status = library.NewStatus();
  const TfPtr<TF_ImportGraphDefOptions> options(library->TF_NewImportGraphDefOptions(),
                                                library->TF_DeleteImportGraphDefOptions);
  const TF_Buffer buffer = {.data = bytes.data(), .length = bytes.size(), .data_deallocator = nullptr};
  library->TF_GraphImportGraphDef(graph.get(), &buffer, options.get(), status.get());
  const TF_Code code = library->TF_GetCode(status.get());
  if (code == TF_OK) return graph;
  const std::string message = fmt::format("importing the graph: {}", library.Message(status.get()));
  if (message.contains("Invalid GraphDef") || message.contains("min consumer version")) {
    throw Error(WASINN_ERROR_INVALID_ENCODING, message);
  }
  // An operation that is not registered.
  throw Error(code == TF_NOT_FOUND ? WASINN_ERROR_UNSUPPORTED_OPERATION : CodeOf(code), message);
}

// The account of sessions, and their charge.
struct Charge {
  void* account;
  uint64_t bytes;
};

std::shared_ptr<Session> NewSession(const Host& host, const TfGraph& graph, Device device, Folding folding,
                                    const Charge& charge) {
  const TfLibrary& library = host.library();
  const TfPtr<TF_Status> status = library.NewStatus();
  const auto options = MakeSessionOptions(library, host.config().threads, device, folding);
  TF_Session* session = library->TF_NewSession(graph.get(), options.get(), status.get());
  library.Check(status.get(), "making a session");
  return std::make_shared<Session>(library, graph, session, backend::Reservation(host.services(), charge.account),
                                   charge.bytes);
}

std::shared_ptr<Session> LoadSession(const Host& host, const std::string& folder, const std::vector<std::string>& tags,
                                     Device device, const Charge& charge) {
  const TfLibrary& library = host.library();
  const TfPtr<TF_Status> status = library.NewStatus();
  const auto options = MakeSessionOptions(library, host.config().threads, device);
  TfGraph graph = NewGraph(library);  // it must be empty each time
  std::vector<const char*> pointers;
  pointers.reserve(tags.size());
  for (const std::string& tag : tags) pointers.push_back(tag.c_str());
  TF_Session* session =
      library->TF_LoadSessionFromSavedModel(options.get(), nullptr, folder.c_str(), pointers.data(),
                                            static_cast<int>(pointers.size()), graph.get(), nullptr, status.get());
  library.Check(status.get(), fmt::format("loading the SavedModel in '{}'", folder).c_str());
  return std::make_shared<Session>(library, std::move(graph), session,
                                   backend::Reservation(host.services(), charge.account), charge.bytes);
}

std::string Text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : ModelBase(host), reservation_(host.services(), options.account) {
  const wasinn_builder& builder = backend::OneBuilder(builders, options, "tensorflow", "a TensorFlow model");
  Source source = {.bytes = {builder.data, builder.size},
                   .path = builder.path == nullptr ? "" : builder.path,
                   .config = ModelConfig::Parse(options.host_config, options.guest_config),
                   .device = Device::kCpu,
                   .max_bytes = options.max_bytes,
                   .account = options.account};
  OpenOpLibraries(host.library(), source.config.op_libraries);
  backend::LoadOnTarget(
      options, host.fallback(), Device::kCpu, [&] { return DevicesFor(options.target, host); },
      [&](Device device) {
        source.device = device;
        if (LooksLikeSavedModel(source.bytes)) {
          LoadSavedModel(source);
        } else {
          LoadGraph(source);
        }
        Compile();
      });
}

void Model::LoadGraph(const Source& source) {
  const GraphScan scan = ScanGraph(source.bytes);
  if (source.from_guest() || !source.config.allow_file_ops) CheckOps(scan, false);
  if (source.config.op_libraries.empty()) CheckHasNoneOfLibraries(scan);
  CheckSize(scan, source.bytes.size(), source.max_bytes);
  if (source.from_guest()) reservation_.Resize(GrownBytes(scan, source.bytes.size()));
  const TfGraph graph = Import(host_.library(), source.bytes);
  const Folding folding = source.from_guest() ? Folding::kLittle : Folding::kUsual;
  session_bytes_ = SessionBytes(scan, source.bytes.size());
  const Charge charge = {.account = source.account, .bytes = session_bytes_};
  sessions_ = std::make_unique<Sessions>([this, graph, folding, device = source.device, charge] {
    return NewSession(host_, graph, device, folding, charge);
  });
  SetSignature(std::make_unique<Signature>(host_.library(), sessions_->first(), scan, std::span(source.config.outputs)),
               scan);
  description_ = Text({{"format", "GraphDef"},
                       {"device", source.device == Device::kGpu ? "GPU" : "CPU"},
                       {"stateful", effects_.keeps_state}});
}

void Model::LoadSavedModel(const Source& source) {
  const std::filesystem::path path(source.path);
  if (source.path.empty() || path.filename() != kFileOfSavedModel) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "a SavedModel is a folder, with its variables in files of their own, and is loaded by the name that the host "
          "gave to it: expected the bytes of a frozen GraphDef{}",
          source.path.empty() ? "" : fmt::format(", or a file {}", kFileOfSavedModel));
  }
  const std::vector<MetaGraph> graphs = ReadSavedModel(source.bytes);
  const MetaGraph& chosen = FindMetaGraph(graphs, source.config.tags);
  const NamedSignature& named = FindSignature(chosen, source.config.signature);
  const GraphScan scan = ScanGraph(chosen.graph);
  if (!source.config.allow_file_ops) CheckOps(scan, true);
  if (source.config.op_libraries.empty()) CheckHasNoneOfLibraries(scan);
  CheckSize(scan, source.bytes.size(), source.max_bytes);
  auto signature = std::make_unique<Signature>(named, source.config.outputs);
  const std::string folder = backend::FolderOf(path);
  CheckVariables(scan, folder);
  session_bytes_ = SessionBytes(scan, source.bytes.size()) + VariableBytes(folder);
  const Charge charge = {.account = source.account, .bytes = session_bytes_};
  sessions_ = std::make_unique<Sessions>([this, folder, tags = source.config.tags, device = source.device, charge] {
    return LoadSession(host_, folder, tags, device, charge);
  });
  SetSignature(std::move(signature), scan);
  nlohmann::json signatures = nlohmann::json::array();
  for (const NamedSignature& one : chosen.signatures) {
    if (!one.name.starts_with("__")) signatures.push_back(one.name);
  }
  if (source.config.signature.empty() && signatures.size() > 1) {
    host_.log().Write(
        named.name == "serving_default" ? WASINN_LOG_INFO : WASINN_LOG_WARNING,
        fmt::format("the SavedModel has the signatures {}: '{}' is computed (key signature)",
                    signatures.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), named.name));
  }
  description_ = Text({{"format", "SavedModel"},
                       {"device", source.device == Device::kGpu ? "GPU" : "CPU"},
                       {"tags", source.config.tags},
                       {"signature", named.name},
                       {"signatures", signatures},
                       {"stateful", effects_.keeps_state}});
}

// TensorFlow prunes and optimises the graph and makes its kernels at the first request for certain inputs and outputs.
// If inputs have a wrong type, it does all that, and then refuses to run. So the first compute is as fast as others,
// and a graph that cannot run fails at its load.
void Model::Compile() const {
  const TfLibrary& library = host_.library();
  const Session* session = &sessions_->first();
  std::vector<TF_Output> feeds, fetches;
  std::vector<TfPtr<TF_Tensor>> owned;
  std::vector<TF_Tensor*> values;
  static constexpr double kNothing = 0;
  for (const Port& input : signature_->inputs()) {
    if (!input.servable()) continue;
    feeds.push_back(session->Find(input.tensor));
    const TF_DataType wrong = input.type == TF_DOUBLE ? TF_FLOAT : TF_DOUBLE;
    const size_t bytes = wrong == TF_FLOAT ? sizeof(float) : sizeof(double);
    owned.push_back(library.Own(library->TF_NewTensor(
        wrong, nullptr, 0, const_cast<double*>(&kNothing), bytes, [](void*, size_t, void*) {}, nullptr)));
    values.push_back(owned.back().get());
  }
  for (const Port& output : signature_->outputs()) {
    if (output.servable() && output.same_input < 0) fetches.push_back(session->Find(output.tensor));
  }
  if (feeds.empty() || fetches.empty()) return;
  std::vector<TF_Tensor*> results(fetches.size());
  const TfPtr<TF_Status> status = library.NewStatus();
  library->TF_SessionRun(session->get(), nullptr, feeds.data(), values.data(), static_cast<int>(feeds.size()),
                         fetches.data(), results.data(), static_cast<int>(fetches.size()), nullptr, 0, nullptr,
                         status.get());
  for (TF_Tensor* result : results) {
    if (result != nullptr) library->TF_DeleteTensor(result);
  }
  const std::string message = library.Message(status.get());
  if (!message.contains("Expects arg[")) library.Check(status.get(), "compiling the graph");
}

}  // namespace wasinn::tensorflow
