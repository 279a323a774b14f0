// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/draft.h"
#include "llama/gguf_scan.h"
#include "llama/gpu_split.h"
#include "llama/projector.h"
#include "llama/settings.h"

namespace wasinn::llama {

std::span<const wasinn_key> Keys();
// Whether a guest may set it, or it is refused for guests.
bool IsGuestKey(std::string_view name);

struct BackendConfig {
  std::string library;
  int threads = 1;
  bool guest_grammars = true;

  // `budget`: the host's threads, which are also the default.
  static BackendConfig Parse(const char* text, uint32_t budget);
};

struct ModelConfig {
  SettingsLimits limits;
  Settings defaults;
  int32_t gpu_layers = -1;  // -1: all
  uint32_t parallel = 0;    // 0: each context decodes by itself
  bool map = true;
  GpuSplit split;
  std::string shared_prompt;  // empty: none
  ProjectorSettings projector;
  DraftSettings draft;
  std::map<std::string, std::string> loras;  // name → path

  // The host's settings, then the guest's choices within them.
  static ModelConfig Parse(const char* host_text, const char* guest_text, const BackendConfig& backend,
                           const ModelScan& scan);
};

}  // namespace wasinn::llama
