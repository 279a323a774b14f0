// Checks the files of certificates that the configuration names.
#pragma once

#include <string>

namespace wasinn::remote {

// A key's file and its contents.
struct NamedFile {
  const char* key;
  std::string path, text;
};

// Both functions throw WASINN_ERROR_INVALID_ARGUMENT with the key's name.

// PEM with at least one certificate.
void CheckCertificates(const NamedFile& file);
// Also requires that `key` belongs to the first certificate.
void CheckOwnCertificate(const NamedFile& certificate, const NamedFile& key);

}  // namespace wasinn::remote
