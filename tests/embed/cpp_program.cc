// Every class of wasinn.hpp, against the installed library: cpp_program digits.onnx
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <wasinn/wasinn.hpp>

namespace {

void Expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not true: %s\n", what);
  std::exit(1);
}
#define EXPECT(condition) Expect(condition, #condition)

void CheckStatus() {
  wasinn::Status ok;
  EXPECT(ok.ok() && ok.code() == WASINN_OK && std::strcmp(ok.message(), "") == 0 && ok.release() == nullptr);
  wasinn::Status failed(wasinn_status_new(WASINN_BUSY, "later"));
  wasinn::Status moved = std::move(failed);
  EXPECT(!moved.ok() && moved.code() == WASINN_BUSY && std::strcmp(moved.message(), "later") == 0);
  EXPECT(std::strcmp(moved.backend(), "") == 0);
  const wasinn::Result<int> value(7);
  const wasinn::Result<int> error(std::move(moved));
  EXPECT(value.ok() && *value == 7 && !error && error.status().code() == WASINN_BUSY);
  wasinn::Result<std::unique_ptr<int>> owner(std::make_unique<int>(8));
  EXPECT(*std::move(owner).value() == 8);
}

void CheckConfig() {
  wasinn::Config config;
  EXPECT(config.Set("limits.max_graphs", "3").ok());
  EXPECT(config.LoadToml("[policy]\nload = \"deny\"\n").ok());
  EXPECT(config.Set("limits.max_graph", "3").code() == WASINN_INVALID_ARGUMENT);
  EXPECT(!config.LoadFile("nowhere.toml").ok());
  const wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  EXPECT(host.ok());
  EXPECT(host->limits().max_graphs == 3 && host->limits().max_contexts > 0);
  EXPECT(host->policy().load == WASINN_LOAD_DENY);
}

void CheckModels(const char* path) {
  int lines = 0;
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create({}, [&lines](wasinn::LogLevel, const char*) { ++lines; });
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
  EXPECT(signature->inputs.size() == 1 && signature->inputs[0].dtype == WASINN_F32 && signature->inputs[0].has_rank);
  EXPECT(signature->inputs[0].dims.size() == 4 && signature->inputs[0].dims[3] == 8);
  EXPECT(signature->outputs.size() == 1);
  EXPECT(host->Models()[0].loaded && host->Models()[0].compiles == 1);
  EXPECT(host->Inspect("nothing").status().code() == WASINN_NOT_FOUND);
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
  options.limits = &limits;
  options.policy = &policy;
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

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  CheckStatus();
  CheckConfig();
  CheckModels(argv[1]);
  CheckGuest();
  std::puts("all checks passed");
}
