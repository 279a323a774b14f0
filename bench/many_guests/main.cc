// What many guests take that all compute at once on one model: memory beside their own and their inputs, and inferences
// per second. No engine: each guest is a thread that calls the functions of wasinn.h on memory of its own.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace {

constexpr uint8_t kF32 = 1;  // in wasi-nn.witx

void Must(const wasinn::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

const wasinn_function& Find(std::string_view name) {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (functions[i]->module == std::string_view("wasi_ephemeral_nn") && functions[i]->name == name)
      return *functions[i];
  }
  throw std::runtime_error("there is no function " + std::string(name));
}

class Guest {
 public:
  Guest(const wasinn::Host& host, const std::vector<uint32_t>& dims, int contexts) {
    wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(host);
    Must(guest.status());
    guest_ = std::make_unique<wasinn::Guest>(std::move(*guest));
    uint32_t bytes = sizeof(float);
    for (const uint32_t dim : dims) bytes *= dim;
    constexpr uint32_t kName = 8, kResult = 16, kTensor = 32, kDims = 64, kData = 1024;
    memory_.resize(kData + size_t{bytes});
    memory_[kName] = 'm';
    std::memcpy(&memory_[kDims], dims.data(), dims.size() * sizeof(uint32_t));
    const uint32_t tensor[] = {kDims, static_cast<uint32_t>(dims.size()), kF32, kData, bytes};
    std::memcpy(&memory_[kTensor], tensor, sizeof tensor);
    Call("load_by_name", {kName, 1, kResult});
    const uint32_t graph = Word(kResult);
    for (int i = 0; i < contexts; ++i) {
      Call("init_execution_context", {graph, kResult});
      contexts_.push_back(Word(kResult));
      Call("set_input", {contexts_.back(), 0, kTensor});
    }
  }

  // On any thread; one for each context.
  void Compute(size_t context) { Call("compute", {contexts_[context]}); }

 private:
  uint32_t Word(uint32_t address) const {
    uint32_t word = 0;
    std::memcpy(&word, &memory_[address], sizeof word);
    return word;
  }
  void Call(std::string_view name, const std::vector<uint64_t>& args) {
    wasinn_memory memory = {};
    memory.struct_size = sizeof memory;
    memory.base = memory_.data();
    memory.size = memory_.size();
    const uint32_t error = Find(name).call(guest_->get(), &memory, args.data(), sizeof(uint64_t));
    if (error != 0) throw std::runtime_error(std::string(name) + " ended in error " + std::to_string(error));
  }

  std::vector<uint8_t> memory_;
  std::unique_ptr<wasinn::Guest> guest_;
  std::vector<uint32_t> contexts_;
};

// In MiB; a field of /proc/self/status.
long Memory(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stol(line.substr(field.size())) / 1024;
  }
  return 0;
}

int Run(int argc, char** argv) {
  CLI::App app("Time many guests at once on one model with one input of f32, and say what memory that takes");
  std::string model, most = "0";
  std::vector<uint32_t> dims = {1, 3, 224, 224};
  int guests = 512, contexts = 1, iterations = 4;
  app.add_option("MODEL", model, "A model file")->required();
  app.add_option("--dims", dims, "Of its input; 1 3 224 224 unless told");
  app.add_option("--guests", guests, "512 unless told");
  app.add_option("--contexts", contexts, "Of each guest, with a thread for each; 1 unless told");
  app.add_option("--iterations", iterations, "Inferences of each context; 4 unless told");
  app.add_option("--max-computes", most, "As in the settings");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("max_computes", most));
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  Must(host.status());
  wasinn::ModelOptions options;
  options.path = model;
  Must(host->AddModel("m", options));
  std::vector<std::unique_ptr<Guest>> all;
  all.reserve(static_cast<size_t>(guests));
  for (int i = 0; i < guests; ++i) all.push_back(std::make_unique<Guest>(*host, dims, contexts));

  const long before = Memory("VmRSS:");
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  threads.reserve(all.size() * static_cast<size_t>(contexts));
  for (const auto& guest : all) {
    for (int context = 0; context < contexts; ++context) {
      threads.emplace_back([&guest, context, iterations] {
        for (int i = 0; i < iterations; ++i) guest->Compute(static_cast<size_t>(context));
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d guests with their inputs: %ld MiB; %ld MiB more at most while all compute; %.1f inferences/s\n",
              guests, before, Memory("VmHWM:") - before, guests * contexts * iterations / took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "many-guests: %s\n", error.what());
  return 1;
}
