// What checks run on where nobody has described the model: what the backend says of it.
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
  std::string address;                                 // or it is there, and this is its only part; else ""
  std::string format;                                  // as the backend's table has it
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs that leave them open; else such dims are 2
  std::string config = "{}";                           // of the model, a JSON object
};

// Inputs are made of small numbers. An error says why there can be none.
std::expected<Subject, std::string> SubjectOf(const Host& host, const SubjectOptions& options);

// The name of the format that the table has for a file's name, or its only one; "": neither.
std::string FormatOf(const wasinn_backend& table, const std::string& path);

}  // namespace wasinn::check
