#include "llama/decode_settings.h"

#include <climits>

#include "llama/set_values.h"

namespace wasinn::llama {

void DecodeSettings::Apply(const backend::Config& config) {
  SetBool(config, "decode", &on);
  SetInteger(config, "top-logits", 0, INT32_MAX, &top);
  SetInteger<uint32_t>(config, "position", 0, INT32_MAX, &position);
}

}  // namespace wasinn::llama
