// The subject of checks if the model is not described: it follows the backend's information.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <vector>

#include "check/contract.h"

namespace wasinn::check {

struct SubjectOptions {
  std::vector<std::string> parts;                      // bytes, one for each part of the model
  std::string address;                                 // an address, its only part; else ""
  std::string format;                                  // as in the backend's table
  std::map<std::string, std::vector<int64_t>> shapes;  // for inputs with open dims; by default such dims are 2
  std::string config = "{}";                           // for the model, a JSON object
};

// Inputs are small numbers. An error has the reason why there can be none.
std::expected<Subject, std::string> SubjectOf(const Host& host, const SubjectOptions& options);

// The table's format for a file's name, or its only format; "": neither.
std::string FormatOf(const wasinn_backend& table, const std::string& path);

}  // namespace wasinn::check
