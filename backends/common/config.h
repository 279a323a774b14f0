// Configuration: the text of one JSON object.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wasinn::backend {

// Reads keys of one type each. The core has refused unknown keys; a value of another type is an Error with
// WASINN_ERROR_INVALID_ARGUMENT that names the key, the expected value and the given one.
class Config {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  // `text` may be NULL or empty: no keys. `where` is for messages: "[backends.onnx]".
  Config(const char* text, std::string where);
  ~Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Whether the key exists; and whether it is a string, for keys of several types.
  bool Has(const char* key) const;
  bool IsString(const char* key) const;
  std::optional<std::string> String(const char* key) const;
  // A string that begins with '/'.
  std::optional<std::string> AbsolutePath(const char* key) const;
  std::optional<bool> Bool(const char* key) const;
  std::optional<int64_t> Integer(const char* key, int64_t least, int64_t most) const;
  // A number, integer or not.
  std::optional<double> Number(const char* key, double least, double most) const;
  // A string, or a list of strings.
  std::optional<std::vector<std::string>> StringList(const char* key) const;
  // As above, for strings that begin with '/'.
  std::vector<std::string> AbsolutePaths(const char* key) const;
  // JSON as a string or as a value, at most `depth` deep in either; as text, with its names in the given order.
  std::optional<std::string> JsonText(const char* key, size_t depth) const;
  // As above, but a string is not parsed: it is text like any other value.
  std::optional<std::string> ValueText(const char* key, size_t depth) const;
  // One of `words`, as its index.
  std::optional<size_t> Word(const char* key, std::span<const char* const> words) const;
  // An object of strings, numbers and booleans, as text: {"device_id": 1}.
  std::optional<Entries> Strings(const char* key) const;
  // A list whose elements are words or objects with a key "name": ["cpu", {"name": "cuda", "device_id": 1}].
  struct Named {
    std::string name;
    Entries options;
    bool operator==(const Named&) const = default;
  };
  std::optional<std::vector<Named>> NamedList(const char* key) const;
  // All keys in the text, known or not.
  std::vector<std::string> Keys() const;

 private:
  struct Json;

  template <typename T, typename Is>
  std::optional<T> Get(const char* key, const std::string& expected, const Is& is) const;
  std::string Ordered(const char* key, size_t depth) const;
  [[noreturn]] void Refuse(const char* key, const std::string& expected) const;

  std::unique_ptr<Json> json_;
  std::string text_;
  std::string where_;
};

// As C functions take them. Points into the entries.
struct KeysAndValues {
  explicit KeysAndValues(const Config::Entries& entries) {
    for (const auto& [key, value] : entries) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }

  std::vector<const char*> keys, values;
};

// The key of models with custom operators, and advice for an error about an operator that the framework does not have.
inline constexpr wasinn_key kOpLibrariesKey = {
    "op_libraries", WASINN_KEY_MODEL,
    "list of absolute paths of libraries with custom operators, which run as part of this program or of the model's "
    "worker"};
inline constexpr char kOpLibrariesAdvice[] =
    "For a model that the host names, the key op_libraries lists libraries of custom operators";

// The whole host's budget, as an int for frameworks.
int ThreadBudget(uint32_t budget);

// A backend's threads: 1 to the host's budget, which is the default.
int BackendThreads(const Config& backend, uint32_t budget);

// A model's threads: the host sets 1 to `most`, or nothing, which means `usual`; a guest may ask for more, but gets at
// most that.
int ModelThreads(const Config& host, const Config& guest, int most, int usual);

}  // namespace wasinn::backend
