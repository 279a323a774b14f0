// Bytes of a model, reference counted and immutable, so that a framework may keep them as long as it needs.
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "core/status.h"

namespace wasinn::isolation {
class Segment;
}

namespace wasinn::core {

// As `b2sum -l 256` prints it: BLAKE2b of 32 bytes, in hexadecimal. About 1 GB/s.
std::string DigestOf(std::span<const uint8_t> bytes);

class Blob {
 public:
  // A private copy of a guest's bytes: no other thread of the guest can change it while it is parsed.
  static std::shared_ptr<const Blob> Copy(std::span<const uint8_t> bytes);
  // As Copy, in sealed memory that a worker maps, too. UNAVAILABLE: the system has no such memory.
  static Result<std::shared_ptr<const Blob>> CopySealed(std::span<const uint8_t> bytes);
  // A file's bytes in sealed memory.
  static Result<std::shared_ptr<const Blob>> ReadSealed(const std::string& path);
  // Reads a file whole, or maps it if it is large or declared immutable (truncating a mapped file kills the reader).
  static Result<std::shared_ptr<const Blob>> ReadFile(const std::string& path, bool map);
  // A model at an address: the bytes are the address.
  static std::shared_ptr<const Blob> OfAddress(const std::string& address);
  // The size of a file, without reading it.
  static Result<uint64_t> FileSize(const std::string& path);
  // A file's first bytes, at most `most`.
  static Result<std::shared_ptr<const Blob>> ReadStart(const std::string& path, size_t most);

  ~Blob();
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // The descriptor of its sealed memory; -1 if it has none.
  int descriptor() const;
  // By which an operator recognises a model. Computed once.
  const std::string& Digest() const;

 private:
  Blob();
  static Result<std::shared_ptr<const Blob>> Sealed(Result<isolation::Segment> segment);

  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::unique_ptr<uint8_t[]> owned_;  // NULL if mapped
  void* mapping_ = nullptr;
  std::unique_ptr<isolation::Segment> sealed_;
  mutable std::once_flag digested_;
  mutable std::string digest_;
  std::string path_;  // or address; "" for a guest's bytes
};

// A backend's C view of a blob. The view lives as long as the call; retain and release keep the blob itself.
class BlobView {
 public:
  explicit BlobView(std::shared_ptr<const Blob> blob);
  const wasinn_builder* get() const { return &view_; }
  // The blob behind such a view.
  static const Blob& Of(const wasinn_builder& view);

 private:
  // Keeps a blob alive across the C boundary: it counts retain and release, and the last release deletes it.
  struct Owner;
  std::unique_ptr<Owner, void (*)(Owner*)> owner_;
  wasinn_builder view_;
};

}  // namespace wasinn::core
