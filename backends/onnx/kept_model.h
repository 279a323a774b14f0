// A model of the host's as ONNX Runtime has optimized it, kept on disk for the next load.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/model_cache.h"
#include "onnx/config.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

class KeptModel {
 public:
  // Whether this configuration keeps models at all, and what it asks of ONNX Runtime can be kept.
  static bool Wanted(const SessionConfig& config);

  // Of a model on the CPU that has these bytes, in one file or several. Throws Error where `cache_dir` cannot be used.
  KeptModel(const OrtLibrary& library, const SessionConfig& config,
            std::span<const backend::ModelCache::Bytes> sources);

  // A model that is whole and has no more to optimize.
  std::optional<backend::ModelCache::Contents> Find() const { return cache_.Find(name_); }

  const backend::ModelCache& cache() const { return cache_; }
  const std::string& name() const { return name_; }

 private:
  const backend::ModelCache cache_;
  const std::string name_;
};

}  // namespace wasinn::onnx
