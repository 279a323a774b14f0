// References to artifacts in OCI registries: oci://REGISTRY[:PORT]/REPOSITORY[:TAG][@sha256:HEX][#FILE].
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace wasinn::artifacts {

// Errors are one line.
template <typename T>
using Result = std::expected<T, std::string>;

struct Reference {
  std::string registry;  // with its port, if it has one
  std::string repository;
  std::string tag, digest;  // at least one of them; a digest is "sha256:" and 64 digits
  std::string file;         // a file or folder of several; "": none is chosen

  // The same reference by this digest, which never changes, instead of a tag.
  Reference At(const std::string& its_digest) const;
  // The last component of the repository: the usual name of the model or guest.
  std::string Name() const;
};

// Whether a path is a reference, well-formed or not.
bool IsReference(std::string_view text);

Result<Reference> ParseReference(std::string_view text);

std::string ToString(const Reference& reference);

}  // namespace wasinn::artifacts
