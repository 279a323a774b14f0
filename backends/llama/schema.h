// JSON schemas as grammars.
#ifndef WASINN_BACKENDS_LLAMA_SCHEMA_H_
#define WASINN_BACKENDS_LLAMA_SCHEMA_H_

#include <string>

namespace wasinn::llama {

// llama.cpp's own conversion, which lies beside its library in one of its own (scripts/deps/llama/schema.cc). Any
// thread.
class SchemaConverter {
 public:
  // `library`: the path of llama.cpp's.
  explicit SchemaConverter(const std::string& library);

  // The grammar for a schema that is not deep. Throws WASINN_INVALID_ARGUMENT where there is none for it, and
  // WASINN_UNSUPPORTED_OPERATION where the library is missing.
  std::string GrammarOf(const std::string& schema) const;

 private:
  std::string path_;
  char* (*convert_)(const char* schema, char** error) = nullptr;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SCHEMA_H_
