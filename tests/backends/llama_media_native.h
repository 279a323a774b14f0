// llama.cpp's own way to a completion of texts, images and sounds: mtmd.h and llama.h, for comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/media_files.h"

namespace wasinn::test {

// The next image or sound is at the marker.
struct NativeMediaPrompt {
  std::string text;
  std::vector<Pixels> images;
  std::vector<std::vector<float>> sounds;  // behind the images
};
inline constexpr const char* kNativeMarker = "<__media__>";

class NativeMedia {
 public:
  NativeMedia(const std::string& model, const std::string& projector);
  ~NativeMedia();
  NativeMedia(const NativeMedia&) = delete;
  NativeMedia& operator=(const NativeMedia&) = delete;

  // The most probable tokens. `batch`: the most tokens of an image that are evaluated together.
  std::string Complete(const NativeMediaPrompt& prompt, int32_t predict, int32_t batch = 2048) const;
  // That mtmd makes of it.
  size_t CountTokens(const NativeMediaPrompt& prompt) const;

 private:
  struct Api;
  std::unique_ptr<Api> api_;
};

}  // namespace wasinn::test
