#include "forms.h"

#include "support/guest_command.h"
#include "support/this_build.h"

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

// They need a Wasmtime that serves them, and wasm-tools to make them.
std::vector<Form> ComponentForms() { return HasGuest("infer-october.component") ? Forms(true) : std::vector<Form>(); }

std::vector<Case> Cases(const std::vector<Format>& formats, const std::vector<Form>& forms) {
  std::vector<Case> cases;
  for (size_t format = 0; format < formats.size(); ++format) {
    for (size_t form = 0; form < forms.size(); ++form) {
      // Components have one engine: every format in one form, and every form with one format.
      const bool is_pair = forms[form].component ? format == 0 || form == 0 : IsThisEnginesPart(format + form);
      if (is_pair || !OnlyPairs()) cases.push_back({formats[format], forms[form]});
    }
  }
  return cases;
}

std::vector<Format> TextFormats() {
  if (!Has("llama")) return {};
  return {{"Gguf", "llama", "tiny.gguf", {"tiny.gguf"}, -1, "completion", "u8"}};
}

}  // namespace wasinn::testing
