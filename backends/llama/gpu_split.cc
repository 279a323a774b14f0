#include "llama/gpu_split.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "common/throw.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr const char* kModes[] = {"none", "layer", "row", "tensor"};  // in the order of llama_split_mode
constexpr int32_t kMaxGpus = 64;
constexpr float kLargestShare = 1e6F;

// "3,1", in the form of llama.cpp's programs.
std::vector<float> ParseShares(const std::string& text) {
  std::vector<float> shares;
  bool good = true, any = false;
  for (std::string_view rest = text; good;) {
    const std::string_view word = rest.substr(0, rest.find_first_of(",/"));
    float share = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), share);
    good = error == std::errc() && end == word.data() + word.size() && share >= 0 && share <= kLargestShare &&
           shares.size() < kMaxGpus;
    shares.push_back(share);
    any = any || share > 0;
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  if (good && any) return shares;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "tensor-split: expected the share of each GPU, as in \"3,1\", found '{}'", text);
}

}  // namespace

GpuSplit GpuSplit::Parse(const Config& host) {
  GpuSplit parsed;
  if (const auto mode = host.Word("split-mode", kModes)) parsed.mode = static_cast<llama_split_mode>(*mode);
  parsed.main = static_cast<int32_t>(host.Integer("main-gpu", 0, kMaxGpus - 1).value_or(0));
  if (const auto shares = host.String("tensor-split")) parsed.shares = ParseShares(*shares);
  for (const char* key : {"split-mode", "main-gpu", "tensor-split"}) {
    if (host.Has(key)) parsed.keys += (parsed.keys.empty() ? "" : ", ") + std::string(key);
  }
  return parsed;
}

void GpuSplit::Fill(const LlamaLibrary& library, llama_model_params* params) {
  const size_t gpus = library.CountDevices(GGML_BACKEND_DEVICE_TYPE_GPU);
  if (shares.size() > gpus || static_cast<size_t>(main) >= gpus) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: this machine has {} GPUs", keys, gpus);
  }
  params->split_mode = mode;
  params->main_gpu = main;
  if (shares.empty()) return;
  shares.resize(std::max(gpus, library.max_devices()));
  params->tensor_split = shares.data();
}

}  // namespace wasinn::llama
