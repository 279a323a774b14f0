#include "artifacts/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "artifacts/artifact_names.h"
#include "artifacts/digest.h"

namespace wasinn::artifacts {
namespace {

constexpr std::string_view kScheme = "oci://";
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr size_t kMaxTag = 128, kMaxRepository = 255, kMaxReference = 4096;

bool HasOnly(std::string_view text, std::string_view characters, std::string_view more = "") {
  return std::ranges::all_of(
      text, [&](char c) { return characters.find(c) != characters.npos || more.find(c) != more.npos; });
}

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stopped == end && port >= 1 && port <= 65535;
}

// The error in a registry's name; "": none. Without a dot or a port, programs take it for a folder of Docker Hub.
std::string WrongRegistry(std::string_view registry) {
  const size_t colon = registry.find(':');
  const std::string_view host = registry.substr(0, colon);
  if (host.empty()) return "it names no registry";
  if (!HasOnly(host, kLetters, ".-") || !HasOnly(host.substr(0, 1), kLetters) ||
      !HasOnly(host.substr(host.size() - 1), kLetters)) {
    return fmt::format("'{}' is not the name of a registry", host);
  }
  if (colon != registry.npos && !IsPort(registry.substr(colon + 1))) {
    return fmt::format("'{}' is not a port", registry.substr(colon + 1));
  }
  const bool is_host = colon != registry.npos || host.find('.') != host.npos || host == "localhost";
  return is_host ? "" : fmt::format("the registry '{}' has neither a dot nor a port: docker.io is Docker Hub's", host);
}

// Words of lower-case letters and digits, separated by single dots, one or two underscores, or any number of dashes.
bool IsComponent(std::string_view text) {
  if (text.empty() || !HasOnly(text, kLower, "._-")) return false;
  if (!HasOnly(text.substr(0, 1), kLower) || !HasOnly(text.substr(text.size() - 1), kLower)) return false;
  for (size_t at = 0; (at = text.find_first_of("._-", at)) != text.npos;) {
    const size_t end = text.find_first_of(kLower, at);
    const std::string_view between = text.substr(at, end - at);
    if (between != "." && between != "_" && between != "__" && !HasOnly(between, "-")) return false;
    at = end;
  }
  return true;
}

std::string WrongRepository(std::string_view repository) {
  bool is_right = repository.size() <= kMaxRepository;
  for (std::string_view rest = repository; is_right;) {
    const size_t slash = rest.find('/');
    is_right = IsComponent(rest.substr(0, slash));
    if (slash == rest.npos) break;
    rest.remove_prefix(slash + 1);
  }
  return is_right ? ""
                  : fmt::format("'{}' is not the name of a repository (lower case, as in models/digits)", repository);
}

std::string WrongTag(std::string_view tag) {
  const bool is_right = !tag.empty() && tag.size() <= kMaxTag && HasOnly(tag, kLetters, "._-") &&
                        HasOnly(tag.substr(0, 1), kLetters, "_");
  return is_right ? "" : fmt::format("'{}' is not a tag", tag);
}

// Moves the text after the last `mark` from the end of `text`. False: there is no mark.
bool TakeAfter(char mark, std::string_view& text, std::string& after) {
  const size_t at = text.find(mark);
  if (at == text.npos) return false;
  after = text.substr(at + 1);
  text = text.substr(0, at);
  return true;
}

// Reads the text into the parts of `reference`. Returns the error; "": none.
std::string Read(std::string_view text, Reference& reference) {
  if (text.size() > kMaxReference) return fmt::format("it has more than {} bytes", kMaxReference);
  text.remove_prefix(kScheme.size());
  const bool has_file = TakeAfter('#', text, reference.file);
  if (has_file && !IsSafePath(reference.file)) return fmt::format("'{}' is not a path in it", reference.file);
  const bool has_digest = TakeAfter('@', text, reference.digest);
  if (has_digest && !IsDigest(reference.digest)) {
    return fmt::format("'{}' is not a digest: \"sha256:\" and 64 lower-case hexadecimal digits", reference.digest);
  }
  const size_t slash = text.find('/');
  reference.registry = text.substr(0, slash);
  if (std::string wrong = WrongRegistry(reference.registry); !wrong.empty()) return wrong;
  if (slash == text.npos) return "it names no repository";
  text.remove_prefix(slash + 1);
  const bool has_tag = TakeAfter(':', text, reference.tag);
  if (has_tag) {
    if (std::string wrong = WrongTag(reference.tag); !wrong.empty()) return wrong;
  }
  reference.repository = text;
  if (std::string wrong = WrongRepository(text); !wrong.empty()) return wrong;
  return has_tag || has_digest ? "" : "it has neither a tag nor a digest: add :TAG or @sha256:DIGEST";
}

}  // namespace

bool IsReference(std::string_view text) { return text.starts_with(kScheme); }

Result<Reference> ParseReference(std::string_view text) {
  Reference reference;
  if (!IsReference(text)) return std::unexpected(fmt::format("'{}' does not begin with {}", text, kScheme));
  if (const std::string wrong = Read(text, reference); !wrong.empty()) {
    return std::unexpected(
        fmt::format("'{}' is not oci://REGISTRY/REPOSITORY:TAG or …@sha256:DIGEST: {}", text, wrong));
  }
  return reference;
}

Reference Reference::At(const std::string& its_digest) const {
  return {.registry = registry, .repository = repository, .tag = "", .digest = its_digest, .file = file};
}

std::string Reference::Name() const { return repository.substr(repository.rfind('/') + 1); }

std::string ToString(const Reference& reference) {
  std::string text = std::string(kScheme) + reference.registry + "/" + reference.repository;
  if (!reference.tag.empty()) text += ":" + reference.tag;
  if (!reference.digest.empty()) text += "@" + reference.digest;
  if (!reference.file.empty()) text += "#" + reference.file;
  return text;
}

}  // namespace wasinn::artifacts
