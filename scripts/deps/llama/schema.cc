// llama.cpp's conversion of JSON schemas to grammars, which its own library does not export: compiled from its sources,
// with one C function.
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <vector>

#include "common.h"
#include "json-schema-to-grammar.h"

// The three functions that the sources use of a file which would bring all of llama.cpp's programs with it.
std::string string_join(const std::vector<std::string>& values, const std::string& separator) {
  std::string joined;
  for (size_t i = 0; i < values.size(); ++i) joined += (i == 0 ? "" : separator) + values[i];
  return joined;
}

std::vector<std::string> string_split(const std::string& text, const std::string& delimiter) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = text.find(delimiter); end != std::string::npos; end = text.find(delimiter, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + delimiter.size();
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::string string_repeat(const std::string& text, size_t n) {
  std::string repeated;
  for (size_t i = 0; i < n; ++i) repeated += text;
  return repeated;
}

// What the sources call where they find a fault of their own. Here it is an error like any other.
extern "C" __attribute__((visibility("hidden"), noreturn)) void ggml_abort(const char* file, int line, const char*,
                                                                           ...) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line));
}

// A grammar in GBNF, or NULL and *error; both are freed with free(). Recursive: the caller limits how deep a schema
// goes.
extern "C" __attribute__((visibility("default"))) char* wasinn_llama_schema_to_grammar(const char* schema,
                                                                                       char** error) {
  try {
    constexpr bool kAlwaysGbnf = true;
    return strdup(json_schema_to_grammar(common_json::parse(schema), kAlwaysGbnf).c_str());
  } catch (const std::exception& failed) {
    *error = strdup(failed.what());
  } catch (...) {
    *error = strdup("an exception of an unknown type");
  }
  return nullptr;
}
