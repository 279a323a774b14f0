#include "llama/schema.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "common/dependencies.h"
#include "common/error.h"
#include "common/large_stack.h"
#include "llama/thread_stderr.h"

namespace wasinn::llama {

using backend::Error;

namespace {

using CString = std::unique_ptr<char, decltype(&std::free)>;

// Patterns in a schema are parsed by std::regex, which calls itself for each character.
constexpr size_t kSchemaStack = size_t{256} << 20;

}  // namespace

SchemaConverter::SchemaConverter(const std::string& library)
    : path_((std::filesystem::path(library).parent_path() / "libwasinn_llama_schema.so").string()) {
  backend::CheckDependencies(path_);
  // Never closed, as the frameworks' libraries.
  void* handle = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  convert_ = reinterpret_cast<decltype(convert_)>(dlsym(handle, "wasinn_llama_schema_to_grammar"));
}

std::string SchemaConverter::GrammarOf(const std::string& schema) const {
  if (convert_ == nullptr) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("json-schema: {} was not found; scripts/deps.sh llama installs it", path_));
  }
  CString grammar(nullptr, std::free), error(nullptr, std::free);
  backend::RunOnLargeStack(kSchemaStack, [&] {
    const ThreadStderr printed;  // llama.cpp warns there of what it leaves out of a schema
    char* failed = nullptr;
    grammar.reset(convert_(schema.c_str(), &failed));
    error.reset(failed);
  });
  if (grammar == nullptr) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("json-schema: {}", error == nullptr ? "out of memory" : error.get()));
  }
  return grammar.get();
}

}  // namespace wasinn::llama
