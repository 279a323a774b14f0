// Configuration: any text, key and value lead to options or to an error that says why. Setting one key changes no
// other.
#include <string>
#include <string_view>

#include "core/host/config.h"
#include "fuzz/choices.h"
#include "fuzz/expect.h"

namespace core = wasinn::core;

namespace {

void ExpectClear(const core::Status& status) {
  if (status.ok()) return;
  FUZZ_EXPECT(status.code() == WASINN_ERROR_INVALID_ARGUMENT);
  FUZZ_EXPECT(!status.message().empty());
}

void ReadOptions(const core::Config& config) {
  const core::Result<core::HostOptions> options = config.ToHostOptions();
  if (!options) ExpectClear(options.error());
}

// The keys of flags, whose values the command line passes on unchanged.
void SetOneKey(std::string_view value) {
  core::Config config;
  ExpectClear(config.Set("log.level", value));
  const core::Result<core::HostOptions> options = config.ToHostOptions();
  if (!options) return ExpectClear(options.error());
  const wasinn_limits limits = core::DefaultLimits();
  FUZZ_EXPECT(options->policy.load != WASINN_LOAD_DENY);
  FUZZ_EXPECT(!options->policy.models);
  FUZZ_EXPECT(options->limits.max_graphs == limits.max_graphs);
  FUZZ_EXPECT(options->limits.max_tensor_bytes == limits.max_tensor_bytes);
  FUZZ_EXPECT(options->models.empty() && options->model_dirs.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Choices choices({data, size});
  core::Config config;
  switch (choices.Index(3)) {
    case 0:
      ExpectClear(config.LoadText(choices.Rest()));
      break;
    case 1: {
      const std::string_view both = choices.Rest();
      const size_t split = std::min(both.find('='), both.size());
      ExpectClear(config.Set(both.substr(0, split), both.substr(std::min(split + 1, both.size()))));
      break;
    }
    default: {  // a text, then another on top of it
      const std::string_view first = choices.Text(choices.Number());
      ExpectClear(config.LoadText(first));
      const std::string_view second = choices.Rest();
      ExpectClear(config.LoadText(second));
      SetOneKey(second);
    }
  }
  ReadOptions(config);
  return 0;
}
