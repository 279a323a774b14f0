// Settings like those of a plugin: a file, the environment, and folders of models. Any of them lead to a host or to an
// error that says why. In that host a guest's name leads to a model that is registered under it, never to a path. An
// input has the environment and the guest's names before the file's text.
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/guest.h"
#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "settings/plugin_host.h"

namespace fs = std::filesystem;

namespace wasinn::fuzz {
namespace {

constexpr const char* kVariables[] = {"WASINN_MODELS",  "WASINN_NN_TIMEOUT",    "WASINN_NN_MAX_BYTES",
                                      "WASINN_DIALECT", "WASINN_NN_MAX_GRAPHS", "WASINN_NN_LOAD",
                                      "WASINN_THREADS"};
// Settings that would start a program, or wait for a file.
constexpr std::string_view kLeftOut[] = {"isolate", "gate"};

void WriteFile(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  FUZZ_EXPECT(file.good());
}

// A folder for the whole run, which is the working folder of this process: it has settings, models, and one model that
// is not registered.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "wasinn-fuzz-XXXXXX";
    FUZZ_EXPECT(::mkdtemp(name.data()) != nullptr);
    root_ = name;
    constexpr std::string_view kModel = "GGUF\nin x f32 2\n";
    WriteFile(root_ / "secret.gguf", kModel);
    for (const char* path :
         {"one/model.gguf", "two/1/model.gguf", "two/2/model.gguf", "a:2/model.gguf", "..b/model.gguf",
          "c d\n\x1b/model.gguf", "\xff\xfe/model.gguf", "none/file", "none/x/model.gguf", "one.gguf"}) {
      WriteFile(root_ / "here/models" / path, kModel);
    }
    fs::create_directory_symlink("..", root_ / "here/models/up");
    fs::create_symlink("nowhere", root_ / "here/models/dangling");
    fs::current_path(root_ / "here");
  }
  ~Folder() { fs::remove_all(root_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path file() const { return root_ / "here/wasinn.toml"; }

 private:
  fs::path root_;
};

std::string TakeOut(std::string text) {
  for (const std::string_view word : kLeftOut) {
    for (size_t at; (at = text.find(word)) != text.npos;) text[at] = '_';
  }
  return text;
}

void SetEnvironment(Choices& choices, const Folder& folder) {
  ::setenv("WASINN_CONFIG", folder.file().c_str(), 1);
  ::setenv("WASINN_LOG_LEVEL", "error", 1);
  const auto set = choices.Number();
  for (size_t i = 0; i < std::size(kVariables); ++i) {
    ::unsetenv(kVariables[i]);
    if ((set >> i & 1) == 0) continue;
    ::setenv(kVariables[i], TakeOut(std::string(choices.Text(choices.Number()))).c_str(), 1);
  }
}

// The spellings that guests may use for the registered models.
std::set<std::string> NamesOf(const Host& host) {
  std::set<std::string> names;
  for (const ModelInfo& model : host.Models()) {
    FUZZ_EXPECT(!model.name.empty());
    FUZZ_EXPECT(model.path.empty() || fs::exists(model.path));
    names.insert(model.name);
    names.insert(model.name + ":" + std::to_string(model.version));
  }
  return names;
}

// A version may have zeros before it.
std::string Shortest(const std::string& name) {
  const size_t colon = name.rfind(':');
  uint32_t version = 0;
  if (colon == name.npos) return name;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, version);
  return error == std::errc() && stop == end ? name.substr(0, colon + 1) + std::to_string(version) : name;
}

void LoadByNames(const Host& host, const std::vector<std::string>& asked) {
  const std::set<std::string> known = NamesOf(host);
  std::set<std::string> all(asked.begin(), asked.end());
  all.insert(known.begin(), known.end());
  all.insert({"../secret.gguf", "models/one", "secret", "./one", "up", "one/"});
  Result<Guest> guest = Guest::Create(host);
  FUZZ_EXPECT(guest);
  for (const std::string& name : all) {
    const core::Result<uint32_t> graph = guest->get()->LoadByName(name);
    if (graph) {
      FUZZ_EXPECT(known.contains(name) || known.contains(Shortest(name)));
      FUZZ_EXPECT(guest->get()->DropGraph(*graph).ok());
    } else {
      FUZZ_EXPECT(!graph.error().message().empty());
    }
  }
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const wasinn::fuzz::Folder folder;
  wasinn::fuzz::Choices choices({data, size});
  wasinn::fuzz::SetEnvironment(choices, folder);
  std::vector<std::string> names(choices.Index(4));
  for (std::string& name : names) name = choices.Text(choices.Number());
  wasinn::fuzz::WriteFile(
      folder.file(), "backend_dirs = ['" FUZZ_ECHO_FOLDER "']\n" + wasinn::fuzz::TakeOut(std::string(choices.Rest())));
  const wasinn::Result<wasinn::Host> host = wasinn::settings::MakeHost("witx");
  if (!host) {
    FUZZ_EXPECT(host.status().code() != WASINN_OK && *host.status().message() != '\0');
    return 0;
  }
  wasinn::fuzz::LoadByNames(*host, names);
  return 0;
}
