#include "llama/draft.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "common/throw.h"
#include "llama/model.h"
#include "llama/other_file.h"
#include "llama/prompt.h"
#include "llama/set_values.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr int64_t kMaxGuesses = 64;

[[noreturn]] void RefuseDraft(const std::string& path, const std::string& what) {
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "draft: {}: {}", path, what);
}

// Mapped while the model is scanned and loaded.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    base::Descriptor file;
    struct stat status = {};
    if (!file.Open(open(path.c_str(), O_RDONLY | O_CLOEXEC)) || fstat(file.number(), &status) != 0 ||
        status.st_size == 0) {
      RefuseDraft(path, status.st_size == 0 && file.is_open() ? "is empty" : WhyNotOpened(errno));
    }
    size_ = static_cast<size_t>(status.st_size);
    data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data_ == MAP_FAILED) RefuseDraft(path, std::strerror(errno));
  }
  ~MappedFile() { munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Like a file of the host.
  wasinn_builder Blob(const std::string& path) const {
    return {.struct_size = sizeof(wasinn_builder),
            .data = static_cast<const uint8_t*>(data_),
            .size = size_,
            .path = path.c_str(),
            .owner = nullptr,
            .retain = [](void* /*owner*/) {},
            .release = [](void* /*owner*/) {}};
  }

 private:
  size_t size_ = 0;
  void* data_ = nullptr;
};

void CheckGoesBack(const Model& model, const std::string& path, const char* which) {
  model.CheckGenerates();
  if (model.recurrent())
    RefuseDraft(path, fmt::format("the {} has a recurrent state, and cannot discard drafted tokens", which));
}

// Some models of a family have additional tokens, which are never used.
void CheckSameTokens(const Model& model, const Model& draft, const std::string& path) {
  constexpr size_t kMaxMore = 128;
  const size_t of_model = model.vocabulary_size(), of_draft = draft.vocabulary_size();
  const size_t both = std::min(of_model, of_draft);
  if (std::max(of_model, of_draft) - both > kMaxMore) {
    RefuseDraft(path, fmt::format("it has {} tokens, the model {}", of_draft, of_model));
  }
  for (size_t i = 0; i < both; ++i) {
    const auto token = static_cast<llama_token>(i);
    if (PieceOf(model, token, kWithSpecial) == PieceOf(draft, token, kWithSpecial)) continue;
    RefuseDraft(path, fmt::format("its token {} differs from the model's", i));
  }
}

}  // namespace

DraftSettings DraftSettings::Parse(const backend::Config& host) {
  DraftSettings settings;
  settings.path = host.AbsolutePath("draft").value_or("");
  SetInteger(host, "draft-max", 1, kMaxGuesses, &settings.most);
  SetInteger(host, "draft-min", 1, kMaxGuesses, &settings.least);
  SetNumber(host, "draft-p-min", 0, 1, &settings.least_probability);
  if (settings.least <= settings.most) return settings;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "draft-min: expected no more than draft-max, {}: found {}", settings.most,
        settings.least);
}

std::unique_ptr<Model> LoadDraft(const Model& model, const DraftSettings& settings,
                                 const wasinn_load_options& options) {
  CheckGoesBack(model, settings.path, "model");
  const MappedFile file(settings.path);
  const wasinn_builder builder = file.Blob(settings.path);
  wasinn_load_options of_draft = options;
  of_draft.host_config = of_draft.guest_config = "{}";
  auto draft = std::make_unique<Model>(model.host(), std::span(&builder, 1), of_draft);
  CheckGoesBack(*draft, settings.path, "draft");
  CheckSameTokens(model, *draft, settings.path);
  return draft;
}

}  // namespace wasinn::llama
