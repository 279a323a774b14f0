// consumer FOLDER MODEL: what the model is, on a backend of that folder.
#include <cstdio>
#include <string>
#include <wasinn/wasinn.hpp>

namespace {

int Fail(const wasinn::Status& status) {
  std::fprintf(stderr, "%s\n", status.message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  wasinn::Config config;
  const wasinn::Status set = config.Set("backend_dirs", "[\"" + std::string(argv[1]) + "\"]");
  if (!set.ok()) return Fail(set);
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  if (!host) return Fail(host.status());
  wasinn::ModelOptions options;
  options.path = argv[2];
  const wasinn::Status added = host->AddModel("m", options);
  if (!added.ok()) return Fail(added);
  const wasinn::Result<wasinn::Signature> signature = host->Inspect("m");
  if (!signature) return Fail(signature.status());
  std::printf("%zu input, %zu output\n", signature->inputs.size(), signature->outputs.size());
  return 0;
}
