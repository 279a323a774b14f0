// The time of a whole `wasinn run`, from the start to the end of its process, beyond that of its framework: compiled in
// each run, with a compiled module from the cache, and of a file that `wasinn compile` made. They take turns, also with
// the framework: a process that opens it, loads the model, computes once, and prints the time of that.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"
#include "bench/native.h"

namespace {

using wasinn::bench::Buffer;
using wasinn::bench::ElementSize;
using wasinn::bench::HostOf;
using wasinn::bench::LoadNative;
using wasinn::bench::MakeInputs;
using wasinn::bench::MakeOutputs;
using wasinn::bench::Must;
using wasinn::bench::Result;
using wasinn::bench::Tensor;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr char kNative[] = "--native";

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <typename T>
T Take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error());
  return std::move(*result);
}

// A program's run: its time from start to end, and its output.
struct Done {
  double milliseconds;
  std::string output;
};

Done RunProgram(const Words& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("there is no pipe");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const auto start = Clock::now();
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) throw std::runtime_error(words[0] + ": " + std::strerror(failed));
  std::string output;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) output.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const double took = Since(start);
  if (status != 0) throw std::runtime_error(fmt::format("`{}` failed", fmt::join(words, " ")));
  return {took, output};
}

// An input as a word, for the process that calls the framework natively.
std::string WordOf(const Tensor& tensor) {
  return fmt::format("{} {} [{} {}", tensor.index, static_cast<int>(tensor.dtype), fmt::join(tensor.dims, "x"),
                     tensor.name);
}

Tensor TensorOf(const std::string& word) {
  std::istringstream text(word);
  Tensor tensor;
  int dtype = 0;
  std::string dims;
  text >> tensor.index >> dtype >> dims >> std::ws;
  std::getline(text, tensor.name);
  tensor.dtype = static_cast<wasinn_dtype>(dtype);
  size_t size = ElementSize(tensor.dtype);
  std::istringstream all(dims.substr(1));
  for (std::string dim; std::getline(all, dim, 'x');) {
    tensor.dims.push_back(std::stoll(dim));
    size *= static_cast<size_t>(tensor.dims.back());
  }
  tensor.data = Buffer(size);
  return tensor;
}

// --native ENCODING LIBRARY MODEL OUTPUT INPUT…
int RunNative(const Words& words) {
  std::vector<Tensor> inputs, outputs;
  outputs.push_back(TensorOf(words.at(3)));
  for (size_t i = 4; i < words.size(); ++i) inputs.push_back(TensorOf(words[i]));
  const auto start = Clock::now();
  const auto model = Take(LoadNative(words.at(0), {.library = words.at(1), .path = words.at(2)}, inputs, &outputs));
  fmt::print("{}\n", Since(start));  // LoadNative computes once, for the shapes of the outputs
  return 0;
}

Words NativeOf(const std::string& self, const std::string& path) {
  wasinn::ModelOptions options;
  options.path = path;
  const wasinn::Host host = HostOf({}, options);
  const auto signature = host.Inspect("m");
  Must(signature.status());
  const wasinn::ModelInfo model = host.Models().at(0);
  Words words = {self, kNative, model.encoding, model.library, path, WordOf(Take(MakeOutputs(*signature)).at(0))};
  for (const Tensor& input : Take(MakeInputs(*signature, {}))) words.push_back(WordOf(input));
  return words;
}

// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "whole-runs.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Side {
  std::string name;
  Words words;
  std::vector<double> took;
};

int Main(int argc, char** argv) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  if (argc > 1 && std::strcmp(argv[1], kNative) == 0) return RunNative({argv + 2, argv + argc});
  CLI::App app("Time whole runs of a guest on a model, compared with the model's framework natively");
  std::string model, guest, wasinn = (self.parent_path() / "wasinn").string();
  Words flags, args;
  int runs = 51;
  app.add_option("MODEL", model, "The model that the guest loads by a name")->required();
  app.add_option("GUEST", guest, "A program")->required();
  app.add_option("--flag", flags, "A flag of wasinn run: --flag=--dir=images")->allow_extra_args(false);
  app.add_option("--arg", args, "An argument of the guest")->allow_extra_args(false);
  app.add_option("--runs", runs, "Runs of each kind; default 51");
  CLI11_PARSE(app, argc, argv);

  const Folder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::string compiled = (folder.path() / "guest.cwasm").string();
  RunProgram({wasinn, "compile", guest, "-o", compiled});
  const auto run = [&](const Words& more, const std::string& file) {
    Words words = {wasinn, "run"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(file);
    words.insert(words.end(), args.begin(), args.end());
    return words;
  };
  const Words native = NativeOf(self, model);
  std::vector<double> framework;
  Side sides[] = {{"compiled again", run({"--no-cache"}, guest)},
                  {"from the cache", run({}, guest)},
                  {"from a .cwasm", run({"--allow-precompiled"}, compiled)}};
  for (int i = -1; i < runs; ++i) {  // the first runs fill caches
    const double load = std::stod(RunProgram(native).output);
    if (i >= 0) framework.push_back(load);
    for (Side& side : sides) {
      const double took = RunProgram(side.words).milliseconds;
      if (i >= 0) side.took.push_back(took);
    }
  }
  const double base = Median(framework);
  fmt::print("the framework itself: {:.1f} ms until its first result\n", base);
  for (const Side& side : sides) {
    const double median = Median(side.took);
    fmt::print("run, {}: {:.1f} ms, {:.1f} beyond that\n", side.name, median, median - base);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "whole-runs: %s\n", error.what());
  return 1;
}
