// The values of flags that are small languages of their own: models in three spellings, sizes and durations.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/expect.h"
#include "settings/model_flags.h"
#include "settings/quantities.h"

namespace settings = wasinn::settings;

namespace {

void CheckModel(const settings::ModelFlag& model) {
  FUZZ_EXPECT(!model.name.empty());
  FUZZ_EXPECT(!model.paths.empty() && !model.paths[0].empty());
}

template <typename T>
bool Clear(const settings::Parsed<T>& parsed) {
  FUZZ_EXPECT(parsed || !parsed.error().empty());
  return parsed.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = settings::ParseModelFlag(text); Clear(model)) {
    CheckModel(*model);
    FUZZ_EXPECT(text.starts_with(model->name + "=" + model->paths[0]));
  }
  if (const auto model = settings::ParseWasmEdgeFlag(text); Clear(model)) CheckModel(*model);
  if (const auto models = settings::ParseWasmtimeFlag(text); Clear(models)) {
    for (const settings::ModelFlag& model : *models) FUZZ_EXPECT(!model.paths.empty() && !model.paths[0].empty());
  }
  if (const auto bytes = settings::ParseSize(text); Clear(bytes)) {
    FUZZ_EXPECT(*bytes <= INT64_MAX);  // what a TOML integer holds
    const auto again = settings::ParseSize(std::to_string(*bytes));
    FUZZ_EXPECT(again && static_cast<double>(*again) == static_cast<double>(*bytes));
  }
  Clear(settings::ParseDuration(text));
  return 0;
}
