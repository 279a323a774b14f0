// The files of certificates that the configuration names.
#pragma once

#include <string>

namespace wasinn::remote {

// What a key names, and what is in it.
struct NamedFile {
  const char* key;
  std::string path, text;
};

// Both throw WASINN_ERROR_INVALID_ARGUMENT that names the key.

// PEM with one certificate at least.
void CheckCertificates(const NamedFile& file);
// The same, and a key that belongs to the first of them.
void CheckOwnCertificate(const NamedFile& certificate, const NamedFile& key);

}  // namespace wasinn::remote
