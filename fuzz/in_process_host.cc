#include "fuzz/in_process_host.h"

#include <cstdio>
#include <iterator>

#include "fuzz/expect.h"

namespace wasinn::fuzz {
namespace {

// Nothing waits: no model here has a delay, and the deadlines are for delays that a mutation made.
constexpr char kConfig[] =
    "backend_dirs = ['" FUZZ_ECHO_FOLDER
    "']\n"
    "[limits]\n"
    "max_graphs = 4\nmax_contexts = 6\nmax_model_bytes = 4096\nmax_tensor_bytes = 4096\nmax_name_bytes = 64\n"
    "load_timeout_ms = 100\ncompute_timeout_ms = 100\n"
    "[policy]\nload = 'in-process'\n";  // where the fuzzer sees it

// Seeds have the numbers of the first fifteen, so new ones go to the end.
constexpr std::string_view kModels[] = {
    "GGUF\nin x f32 2\n",
    "GGUF\nin x f32 -1,-1\n",
    "GGUF\nin x f32 any\n",
    "GGUF\nin x u8 any\nin y i64 scalar\n",
    "GGUF\nin x bool 3\nin y f16 1,2 optional\n",
    "GGUF\nin x bf16 2,2\nin y u32 1\nin z i16 scalar\n",
    "GGUF\nin p u8 any opaque\n",
    "GGUF\nin s unknown any unservable\nin x f64 0,3\n",
    "GGUF\nin x f32 1073741824\n",
    "GGUF\nin x f32 4294967296,4294967296\n",
    "GGUF\nin x f32 1\nfail 5\n",
    "GGUF\nfail_load 6\n",
    "GGUF\n",
    "<?xml version=\"1.0\"?><net/>",
    "neither fish nor fowl",
    "GGUF\nin x f32 any\nlate\n",
    "GGUF\nin x u8 any\npieces 3\n",
    "GGUF\nin x u8 any\npieces 1\nroom 4\n",
    "GGUF\nin x f32 any\noutgrows 64\n",
    "GGUF\nin x f32 2 bindable\nshares\n",
    "GGUF\nin x f32 2 bindable\nin y f32 any\nuntakeable\nwears\n",
    "GGUF\nin x f32 2 any_name always\nkeeps 64\n",
    "GGUF\nin x f32 any\nkeeps 8192\n",
};

wasinn_host* NewHost() {
  wasinn_config* config = wasinn_config_new();
  ExpectOk(wasinn_config_load_toml(config, kConfig));
  wasinn_host* host = nullptr;
  ExpectOk(wasinn_host_new(config, CheckLog, nullptr, &host));
  wasinn_config_free(config);
  const std::string_view text = kModels[0];
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  wasinn_model_options options{};
  options.struct_size = sizeof(options);
  options.builders = &bytes;
  options.n_builders = 1;
  ExpectOk(wasinn_host_add_model(host, "m", &options));
  return host;
}

}  // namespace

std::string_view ModelText(uint32_t number) { return kModels[number % std::size(kModels)]; }

void CheckLog(void*, const wasinn_log_record* record) {
  const char* const message = record->message;
  FUZZ_EXPECT(*message != '\0');
  for (const char* c = message; *c != '\0'; ++c) FUZZ_EXPECT(static_cast<unsigned char>(*c) >= 0x20 && *c != 0x7f);
}

void ExpectOk(wasinn_status* status) {
  if (status != nullptr) std::fprintf(stderr, "%s\n", wasinn_status_message(status));
  FUZZ_EXPECT(status == nullptr);
}

wasinn_host* InProcessHost() {
  static wasinn_host* const host = NewHost();
  return host;
}

HostedGuest::HostedGuest(uint32_t timeout_ms) {
  wasinn_limits limits{.struct_size = sizeof(limits)};
  ExpectOk(wasinn_host_limits(InProcessHost(), &limits));
  limits.load_timeout_ms = limits.compute_timeout_ms = timeout_ms;
  wasinn_guest_options options{.struct_size = sizeof(options)};
  options.limits = &limits;
  ExpectOk(wasinn_guest_new(InProcessHost(), &options, &guest_));
}

void ExpectQuotas(const wasinn_guest* guest, uint64_t most_bytes) {
  wasinn_statistics stats{.struct_size = sizeof(stats)};
  ExpectOk(wasinn_guest_statistics(guest, &stats));
  FUZZ_EXPECT(stats.graphs <= kMaxGraphs && stats.contexts <= kMaxContexts);
  FUZZ_EXPECT(stats.model_bytes <= most_bytes && stats.tensor_bytes <= most_bytes);
}

}  // namespace wasinn::fuzz
