// The host's side of the protocol between it and its workers. A guest of a host with isolation does anything, and its
// workers say anything: the guest gets errors, its quotas hold, the log stays clean, and the next guest's inference is
// right. The first byte of an input is the number of the guest's bytes; the rest decides where the workers lie.
#include <wasinn/wit.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/choices.h"
#include "fuzz/component_attack.h"
#include "fuzz/expect.h"
#include "fuzz/in_process_host.h"
#include "fuzz/lying_worker.h"

namespace wasinn::fuzz {
namespace {

constexpr uint64_t kMaxGuestBytes = 1 << 16;
constexpr uint32_t kF32 = 1, kAutodetect = 6;  // of enums of wasi:nn

// One host for the whole run, and its workers.
struct Stage {
  Stage() {
    std::string name = std::filesystem::temp_directory_path() / "wasinn-fuzz-XXXXXX";
    FUZZ_EXPECT(::mkdtemp(name.data()) != nullptr);
    folder = name;
    std::filesystem::create_symlink(FUZZ_LANE_FORWARDER, folder / "worker");
    workers = new LyingWorker(folder);
    wasinn_config* config = wasinn_config_new();
    ExpectOk(wasinn_config_load_toml(config, Settings().c_str()));
    ExpectOk(wasinn_host_new(config, CheckLog, nullptr, &host));
    wasinn_config_free(config);
  }
  ~Stage() { std::filesystem::remove_all(folder); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  std::string Settings() const {
    return "backend_dirs = ['" FUZZ_ECHO_FOLDER "']\nworker = '" + (folder / "worker").string() +
           "'\n[limits]\n"
           "max_graphs = 4\nmax_contexts = 6\nmax_model_bytes = 65536\nmax_tensor_bytes = 65536\nmax_name_bytes = 64\n"
           "[policy]\nload = 'isolated'\n";
  }
  // A named model that runs in a worker of its own.
  void AddModel() const {
    const std::string_view text = ModelText(0);
    const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    wasinn_model_options options{};
    options.struct_size = sizeof(options);
    options.builders = &bytes;
    options.n_builders = 1;
    options.isolate = true;
    ExpectOk(wasinn_host_add_model(host, "m", &options));
  }

  std::filesystem::path folder;
  LyingWorker* workers = nullptr;
  wasinn_host* host = nullptr;
};

class Guest {
 public:
  explicit Guest(wasinn_host* host) { ExpectOk(wasinn_guest_new(host, nullptr, &guest_)); }
  ~Guest() { wasinn_guest_free(guest_); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  wasinn_guest* get() const { return guest_; }

 private:
  wasinn_guest* guest_ = nullptr;
};

void InferHonestly(wasinn_host* host) {
  const Guest guest(host);
  const wasinn_wit_functions& wit = *wasinn_wit();
  const std::string_view text = ModelText(0);
  const wasinn_bytes model{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  const std::array<uint32_t, 1> dims = {kHonestSize};
  const std::array<uint8_t, sizeof(kHonestOutput)> zeros{};
  wasinn_wit_result graph{}, context{}, done{};
  wasinn_wit_view outputs{}, data{};
  uint32_t tensor = 0;
  ExpectOk(wit.graph_load(guest.get(), &model, 1, kAutodetect, 0, &graph));
  FUZZ_EXPECT(graph.is_error == 0);
  ExpectOk(wit.graph_init_execution_context(guest.get(), graph.rep, &context));
  ExpectOk(wit.tensor_new(guest.get(), dims.data(), dims.size(), kF32, zeros.data(), zeros.size(), &tensor));
  const wasinn_wit_named_tensor input = {"x", 1, tensor};
  ExpectOk(wit.context_compute(guest.get(), context.rep, &input, 1, &done, &outputs));
  FUZZ_EXPECT(context.is_error == 0 && done.is_error == 0 && outputs.count == 1);
  ExpectOk(wit.tensor_data(guest.get(), static_cast<const wasinn_wit_named_tensor*>(outputs.data)->tensor, &data));
  FUZZ_EXPECT(data.count == sizeof(kHonestOutput) &&
              std::memcmp(data.data, std::as_bytes(std::span(kHonestOutput)).data(), sizeof(kHonestOutput)) == 0);
  data.release(data.owner);
  outputs.release(outputs.owner);
}

void Play(const Stage& stage, std::span<const uint8_t> input) {
  const size_t of_guest = input.empty() ? 0 : std::min<size_t>(input[0], input.size() - 1);
  Choices choices(input.empty() ? input : input.subspan(1, of_guest));
  stage.workers->Use(input.empty() ? input : input.subspan(1 + of_guest));
  stage.AddModel();
  {
    const Guest guest(stage.host);
    AttackAsComponent(choices, guest.get(), kMaxGuestBytes);
  }
  ExpectOk(wasinn_host_remove_model(stage.host, "m"));
  stage.workers->Use({});
  InferHonestly(stage.host);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const wasinn::fuzz::Stage stage;
  wasinn::fuzz::Play(stage, {data, size});
  return 0;
}
