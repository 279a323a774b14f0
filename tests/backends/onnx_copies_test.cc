// The backend's library twice in one OS process, as two embedders bring it that know nothing of each other: ONNX
// Runtime, its environment and its table of imports are there once.
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <thread>

#include "backends/expect.h"

namespace wasinn::test {
namespace {

std::string BackendFile() { return testing::BackendFile(kFramework); }

// A copy of the backend's file; it goes when the test ends, as far as the file system is concerned.
class CopyOfBackend {
 public:
  explicit CopyOfBackend(const std::string& bytes) {
    std::string folder = (std::filesystem::temp_directory_path() / "onnx_copies.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    path_ = std::filesystem::path(folder) / std::filesystem::path(BackendFile()).filename();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~CopyOfBackend() { std::filesystem::remove_all(path_.parent_path()); }
  CopyOfBackend(const CopyOfBackend&) = delete;
  CopyOfBackend& operator=(const CopyOfBackend&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// As another compiler or another version would have made it, as far as the dynamic linker sees.
std::string OfAnotherBuild(std::string library) {
  ElfW(Ehdr) header;
  std::memcpy(&header, library.data(), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, library.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type != PT_NOTE) continue;
    const std::span notes = std::span(library).subspan(segment.p_offset, segment.p_filesz);
    constexpr std::string_view kName("GNU\0", 4);  // of more notes than this one
    for (auto rest = notes;;) {
      const auto name = std::ranges::search(rest, kName);
      if (name.empty()) break;
      ElfW(Nhdr) note;
      const auto before = name.begin() - notes.begin();
      if (before >= static_cast<long>(sizeof(note))) {
        std::memcpy(&note, notes.data() + before - sizeof(note), sizeof(note));
        if (note.n_type == NT_GNU_BUILD_ID) {
          *name.end() ^= 1;
          return library;
        }
      }
      rest = {name.end(), notes.end()};
    }
  }
  throw std::runtime_error("the backend has no build id");
}

LoadOptions OfAGuest() {
  LoadOptions options;
  options.max_bytes = 64 * kMebi;
  return options;
}

void ExpectComputesAreBounded(const Host& host) {
  const Model model(host, ModelBytes("huge_intermediate.onnx"));
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
}

TEST(OnnxOpenCopies, HoldGuestsToTheirLimits) {
  const CopyOfBackend copy(ReadFile(BackendFile()));
  auto first = std::make_unique<Host>();
  ASSERT_TRUE(first->opened()) << first->opened().message;
  ExpectComputesAreBounded(*first);
  const Host second("{}", 1, copy.path());
  ASSERT_TRUE(second.opened()) << second.opened().message;
  ASSERT_NE(&second.table(), &first->table()) << "it was to be another copy";
  ExpectComputesAreBounded(*first);
  ExpectComputesAreBounded(second);
  EXPECT_THAT(first->log(), Not(HasSubstr("warning")));
  first.reset();
  ExpectComputesAreBounded(second);
  const Host third;
  ExpectComputesAreBounded(third);
  EXPECT_THAT(second.log() + third.log(), Not(HasSubstr("warning")));
}

TEST(OnnxOpenCopies, HoldGuestsOfAnotherBuildToTheirLimits) {
  const CopyOfBackend copy(OfAnotherBuild(ReadFile(BackendFile())));
  const Host first;
  ASSERT_TRUE(first.opened()) << first.opened().message;
  const Host second("{}", 1, copy.path());
  ASSERT_TRUE(second.opened()) << second.opened().message;
  ExpectComputesAreBounded(first);
  EXPECT_THAT(first.log(), Not(HasSubstr("warning")));
  EXPECT_THAT(second.log(), AllOf(HasSubstr("warning: "), HasSubstr("limits on the memory of a model do not hold")));
}

TEST(OnnxOpenCopies, OpenAtOnce) {
  const CopyOfBackend copy(ReadFile(BackendFile())), another(OfAnotherBuild(ReadFile(BackendFile())));
  std::vector<std::thread> threads;
  for (const std::string& path : {BackendFile(), copy.path(), another.path()}) {
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([path] {
        for (int round = 0; round < 3; ++round) {
          const Host host("{}", 1, path);
          ASSERT_TRUE(host.opened()) << host.opened().message;
          const LoadedModel model(host, ModelBytes("mean.onnx"), OfAGuest());
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  const Host host, second("{}", 1, copy.path()), third("{}", 1, another.path());
  for (const Host* each : {&host, &second}) ExpectComputesAreBounded(*each);
}

}  // namespace
}  // namespace wasinn::test
