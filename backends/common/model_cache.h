// What a framework made of the host's models, kept in a folder for the next load. Its files are models that the host
// trusts, so the folder is one user's alone; a file that is not whole, or that nobody wrote with the folder's key, is as
// if it were not there.
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

// Any thread, any number of OS processes.
class ModelCache {
 public:
  using Bytes = std::span<const uint8_t>;

  // `folder`: an absolute path, made with what leads to it where it is not there. Throws Error that says why it cannot
  // be used: who else may write there could put another model in a model's place.
  explicit ModelCache(const std::string& folder);

  // The file for what `maker` makes of these: a model and what belongs to it. `maker` tells the framework with its
  // version and all that its work depends on.
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
  // What is kept under this name; nothing where that is not what was kept.
  std::optional<Contents> Find(const std::string& name) const;

  // A file that a framework writes, and which goes unless it is kept.
  class Draft {
   public:
    // Throws Error where the folder takes no file.
    explicit Draft(const ModelCache& cache);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    // It is there, empty and for this user alone.
    const std::string& path() const { return path_; }
    // In place of what had the name. Throws Error.
    void KeepAs(const std::string& name);

   private:
    const ModelCache& cache_;
    const std::string name_, path_;
    base::Descriptor file_;
    bool kept_ = false;
  };

 private:
  using Hash = std::array<uint8_t, 32>;
  // A secret of the folder's, so that nobody can make two models of one name. Bytes of models go through the quick part.
  struct Key {
    Hash of_bytes, of_names;
  };

  void ReadKey();
  void MakeKey();
  Hash HashOf(std::string_view text, std::span<const Bytes> sources) const;
  // Of a file, which ends with it.
  Hash TagOf(const std::string& name, Bytes bytes) const;

  const std::string path_;
  base::Descriptor folder_;
  Key key_ = {};
};

}  // namespace wasinn::backend
