// The values of flags that are small languages of their own: models in three spellings, sizes and durations.
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/model_flags.h"
#include "cli/quantities.h"
#include "fuzz/expect.h"

namespace cli = wasinn::cli;

namespace {

void CheckModel(const cli::ModelFlag& model) {
  FUZZ_EXPECT(!model.name.empty());
  FUZZ_EXPECT(!model.paths.empty() && !model.paths[0].empty());
  FUZZ_EXPECT(*wasinn_encoding_name(model.encoding) != '\0');
}

template <typename T>
bool Clear(const cli::Parsed<T>& parsed) {
  FUZZ_EXPECT(parsed || !parsed.error().empty());
  return parsed.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = cli::ParseModelFlag(text); Clear(model)) {
    CheckModel(*model);
    FUZZ_EXPECT(text.starts_with(model->name + "=" + model->paths[0]));
  }
  if (const auto model = cli::ParseWasmEdgeFlag(text); Clear(model)) CheckModel(*model);
  if (const auto models = cli::ParseWasmtimeFlag(text); Clear(models)) {
    for (const cli::ModelFlag& model : *models) FUZZ_EXPECT(!model.paths.empty() && !model.paths[0].empty());
  }
  if (const auto bytes = cli::ParseSize(text); Clear(bytes)) {
    FUZZ_EXPECT(*bytes <= INT64_MAX);  // what a TOML integer holds
    const auto again = cli::ParseSize(std::to_string(*bytes));
    FUZZ_EXPECT(again && static_cast<double>(*again) == static_cast<double>(*bytes));
  }
  Clear(cli::ParseDuration(text));
  return 0;
}
