#include "forms.h"

#include <algorithm>

namespace wasinn::testing {
namespace {

constexpr Form kForms[] = {
    {"witx", "witx", "witx", 5, 5},  // without a dialect, both leave it to the bytes
    {"wasmedge", "witx", "wasmedge", 5, 6},
    {"wamr", "witx", "wamr", 6, 5},
    {"wamr_module", "wamr", "witx", 6, 5},
    {"ext", "ext", "witx", 5, 5},
    {"wit_2024_10_28", "october.component", "witx", 6, 5, true},
    {"wit_2024_08_19", "august.component", "witx", 6, 5, true},
    {"wit_2024_06_25", "june.component", "witx", 6, 5, true},
    {"wit_ext", "ext.component", "witx", 6, 5, true},
};

std::vector<Form> Forms(bool components) {
  std::vector<Form> forms;
  std::ranges::copy_if(kForms, std::back_inserter(forms),
                       [&](const Form& form) { return form.component == components; });
  return forms;
}

}  // namespace

std::vector<Form> ModuleForms() { return Forms(false); }

// They need a Wasmtime that serves them, and jco to make them.
std::vector<Form> ComponentForms() { return CONFORMANCE_HAS_COMPONENTS ? Forms(true) : std::vector<Form>(); }

std::vector<Case> Cases(const std::vector<Format>& formats, const std::vector<Form>& forms) {
  std::vector<Case> cases;
  for (const Format& format : formats) {
    for (const Form& form : forms) cases.push_back({format, form});
  }
  return cases;
}

std::vector<Format> TextFormats() {
  if (!CONFORMANCE_SERVES_GGML) return {};
  return {{"Gguf", "llama", "tiny.gguf", {"tiny.gguf"}, -1, "completion", "u8"}};
}

}  // namespace wasinn::testing
