// A framework's results for the host's models, in a folder for the next load. Its files are models that the host
// trusts, so only one user may access the folder; a file that is incomplete, or was not written with the folder's key,
// is ignored.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace wasinn::backend {

// Thread-safe, for any number of OS processes.
class ModelCache {
 public:
  using Bytes = std::span<const uint8_t>;

  // `folder`: an absolute path, created with its parents if it is missing. Throws Error with the reason if it cannot be
  // used: other users who may write there could replace a model.
  explicit ModelCache(const std::string& folder);

  // The file for the result of `maker` for these: a model and its related data. `maker` names the framework with its
  // version and everything that its results depend on.
  std::string NameOf(std::string_view maker, std::span<const Bytes> sources) const;

  // A file's bytes.
  class Contents {
   public:
    explicit Contents(size_t size);
    uint8_t* data() const { return data_.get(); }
    Bytes bytes() const { return {data_.get(), size_}; }
    void Shorten(size_t by) { size_ -= by; }

   private:
    struct Free {
      void operator()(uint8_t* data) const { std::free(data); }
    };
    std::unique_ptr<uint8_t[], Free> data_;
    size_t size_;
  };
  // The content under this name; no value if it is missing or was changed.
  std::optional<Contents> Find(const std::string& name) const;

  // A file that a framework writes. It is removed unless it is kept.
  class Draft {
   public:
    // Throws Error if the folder takes no file.
    explicit Draft(const ModelCache& cache);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    // The file exists, is empty, and only for this user.
    const std::string& path() const { return path_; }
    // Replaces any file of that name. Throws Error.
    void KeepAs(const std::string& name);

   private:
    const ModelCache& cache_;
    const std::string name_, path_;
    base::Descriptor file_;
    bool kept_ = false;
  };

 private:
  using Hash = std::array<uint8_t, 32>;
  // A secret of the folder, so that no one can make two models with one name. Models' bytes use the fast part.
  struct Key {
    Hash of_bytes, of_names;
  };

  void ReadKey();
  void MakeKey();
  Hash HashOf(std::string_view text, std::span<const Bytes> sources) const;
  // The tag of a file, which is at the file's end.
  Hash TagOf(const std::string& name, Bytes bytes) const;

  const std::string path_;
  base::Descriptor folder_;
  Key key_ = {};
};

}  // namespace wasinn::backend
