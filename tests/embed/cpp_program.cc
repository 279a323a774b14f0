// Every class of wasinn.hpp, against the installed library: cpp_program digits.onnx
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <wasinn/inference.hpp>

namespace {

void Expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not true: %s\n", what);
  std::exit(1);
}
#define EXPECT(condition) Expect(static_cast<bool>(condition), #condition)

void CheckStatus() {
  wasinn::Status ok;
  EXPECT(ok.ok() && ok.code() == WASINN_OK && std::strcmp(ok.message(), "") == 0 && ok.release() == nullptr);
  wasinn::Status failed(wasinn_status_new(WASINN_ERROR_BUSY, "later"));
  wasinn::Status moved = std::move(failed);
  EXPECT(!moved.ok() && moved.code() == WASINN_ERROR_BUSY && std::strcmp(moved.message(), "later") == 0);
  EXPECT(std::strcmp(moved.backend(), "") == 0);
  const wasinn::Result<int> value(7);
  const wasinn::Result<int> error(std::move(moved));
  EXPECT(value.ok() && *value == 7 && !error && error.status().code() == WASINN_ERROR_BUSY);
  wasinn::Result<std::unique_ptr<int>> owner(std::make_unique<int>(8));
  EXPECT(*std::move(owner).value() == 8);
}

void CheckConfig() {
  wasinn::Config config;
  EXPECT(config.Set("limits.max_graphs", "3").ok());
  EXPECT(config.LoadToml("[policy]\nload = \"deny\"\n").ok());
  EXPECT(config.Set("limits.max_graph", "3").code() == WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT(!config.LoadFile("nowhere.toml").ok());
  const wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  EXPECT(host.ok());
  EXPECT(host->limits().max_graphs == 3 && host->limits().max_contexts > 0);
  EXPECT(host->policy().load == WASINN_LOAD_DENY);
}

void CheckModels(const char* path) {
  int lines = 0;
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create({}, [&lines](const wasinn_log_record&) { ++lines; });
  EXPECT(host.ok());
  wasinn::ModelOptions options;
  options.path = path;
  options.version = 2;
  EXPECT(host->AddModel("digits", options).ok());
  options.path = "nowhere.onnx";
  options.preload = true;
  EXPECT(!host->AddModel("nothing", options).ok());
  EXPECT(!host->AddModels("nowhere").ok());
  const std::vector<wasinn::ModelInfo> models = host->Models();
  EXPECT(models.size() == 1 && models[0].name == "digits" && models[0].version == 2 && !models[0].loaded);
  const wasinn::Result<wasinn::Signature> signature = host->Inspect("digits");
  EXPECT(signature.ok());
  EXPECT(signature->inputs.size() == 1 && signature->inputs[0].dtype == WASINN_DTYPE_F32 &&
         signature->inputs[0].has_rank);
  EXPECT(signature->inputs[0].dims.size() == 4 && signature->inputs[0].dims[3] == 8);
  EXPECT(signature->outputs.size() == 1);
  EXPECT(host->Models()[0].loaded && host->Models()[0].compiles == 1);
  EXPECT(host->Inspect("nothing").status().code() == WASINN_ERROR_NOT_FOUND);
  bool onnx = false;
  for (const wasinn::BackendReport& backend : host->Backends()) onnx |= backend.name == "onnx" && backend.available;
  EXPECT(onnx);
  EXPECT(host->RemoveModel("digits").ok() && host->Models().empty());
}

void CheckGuest() {
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create();
  EXPECT(host.ok());
  wasinn::Limits limits = host->limits();
  limits.max_graphs = 1;
  wasinn::Policy policy = host->policy();
  policy.load = WASINN_LOAD_DENY;
  wasinn::GuestOptions options;
  options.name = "guest";
  options.limits = limits;
  options.policy = policy;
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host, options);
  EXPECT(guest.ok());
  {
    const wasinn::Host gone = std::move(*host);
  }  // a process keeps what it needs
  EXPECT(guest->Statistics().graphs == 0);
  guest->Close();
  guest->Close();
  wasinn::Guest moved = std::move(*guest);
  EXPECT(moved.get() != nullptr);
}

void CheckInference(const char* path) {
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create();
  EXPECT(host);
  wasinn::ModelOptions options;
  options.path = path;
  options.backend = "onnx";
  EXPECT(host->AddModel("digits", options));
  const wasinn::Io input = host->Inspect("digits")->inputs[0];
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
  EXPECT(guest);
  EXPECT(wasinn::Graph::LoadByName(*guest, "nothing").status().code() == WASINN_ERROR_NOT_FOUND);
  {
    wasinn::Result<wasinn::Graph> graph = wasinn::Graph::LoadByName(*guest, "digits");
    EXPECT(graph && graph->Describe()->find("\"onnx\"") != std::string::npos);
    *graph = *wasinn::Graph::LoadByName(*guest, "digits");
    EXPECT(guest->Statistics().graphs == 1);
    wasinn::Result<wasinn::Context> context = wasinn::Context::Create(*graph);
    EXPECT(context && guest->Statistics().contexts == 1);
    const std::vector<float> pixels(64, 0.5f);
    const wasinn::Context::Inputs inputs = {{input.name, wasinn::Input({1, 1, 8, 8}, pixels)}};
    wasinn::Result<wasinn::Context::Outputs> outputs = context->Compute(inputs);
    EXPECT(outputs && outputs->size() == 1);
    const wasinn::Tensor& scores = outputs->begin()->second;
    EXPECT(scores.dtype() == WASINN_DTYPE_F32 && scores.dims() == std::vector<int64_t>({1, 10}));
    EXPECT(scores.bytes() == 40 && scores.data<float>()[0] == scores.data<float>()[0]);
    EXPECT(guest->Statistics().tensors == 1);
    const wasinn::Context::Inputs wrong = {{input.name, wasinn::Input({1, 64}, pixels)}};
    EXPECT(context->Compute(wrong).status().code() == WASINN_ERROR_INVALID_ARGUMENT);
    const std::vector<int32_t> integers(64);
    const wasinn::Context::Inputs other = {{input.name, wasinn::Input({1, 1, 8, 8}, integers)}};
    EXPECT(context->Compute(other).status().code() == WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT(!context->SelectOutputs({"nothing"}));
    EXPECT(!context->Start(inputs) && !context->Next() && guest->Statistics().tensors == 1);
  }
  EXPECT(guest->Statistics().tensors == 0 && guest->Statistics().graphs == 0 && guest->Statistics().contexts == 0);
}

void CheckRun() {
  const wasinn::Result<wasinn::Host> host = wasinn::Host::Create();
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
  std::atomic<int> interrupts = 0;
  wasinn::Result<wasinn::Run> run = guest->BeginRun([&interrupts] { ++interrupts; });
  EXPECT(run && !guest->BeginRun([] {}) && !guest->BeginRun(nullptr));
  EXPECT(!run->End());
  {
    const wasinn::Result<wasinn::Run> stopped = guest->BeginRun([&interrupts] { ++interrupts; });
    EXPECT(stopped && interrupts == 0);
    guest->Stop();
    EXPECT(interrupts > 0);
  }
  EXPECT(!guest->BeginRun([] {}));
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  CheckStatus();
  CheckConfig();
  CheckModels(argv[1]);
  CheckGuest();
  CheckInference(argv[1]);
  CheckRun();
  std::puts("all checks passed");
}
