// A guest's own model for a worker is in memory once: what the guest's bytes are copied to is what the worker maps.
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/models/blob.h"
#include "support/files.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

using IsolatedBytes = Isolation;

constexpr size_t kModelBytes = 8u << 20;

// All files in memory that this process has for workers, each once.
size_t SealedBytes() {
  std::set<ino_t> seen;
  size_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    struct stat info{};
    if (!std::filesystem::read_symlink(entry, gone).string().starts_with("/memfd:wasinn")) continue;
    if (::stat(entry.path().c_str(), &info) != 0 || !seen.insert(info.st_ino).second) continue;
    total += static_cast<size_t>(info.st_size);
  }
  return total;
}

size_t HeapBytes() {
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

// The size that a process has mapped of such files, in KiB.
size_t SharedKiB(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssShmem:")) return std::stoul(line.substr(9));
  }
  return 0;
}

bool AWorkerHasIt() {
  for (const pid_t process : KnownProcesses()) {
    if (SharedKiB(process) >= kModelBytes >> 10) return true;
  }
  return false;
}

TEST_F(IsolatedBytes, AreCopiedOnceOnTheirWayToTheWorker) {
  const HostPtr host = Host();
  Program program(host.get(), 2 * kModelBytes);
  // One that never ends to load, so that it can be looked at.
  std::string model = EchoModel("in x f32 1\nload_gate /nowhere\n");
  model.resize(kModelBytes, ' ');
  const size_t before = HeapBytes();
  uint32_t graph = 0;
  auto loading = std::async(std::launch::async, [&] { return program.LoadBytes(model, kGgmlEncoding, graph); });
  while (!AWorkerHasIt()) std::this_thread::yield();
  EXPECT_EQ(SealedBytes(), kModelBytes);
  EXPECT_LT(HeapBytes(), before + kModelBytes / 2) << "nothing of it is on the heap";
  EXPECT_EQ(program.Stats().model_bytes_copied, kModelBytes);
  EXPECT_EQ(program.Stats().model_bytes, kModelBytes);
  wasinn_guest_stop(program.guest.get());
  EXPECT_EQ(loading.get(), kRuntimeError);
  EXPECT_EQ(SealedBytes(), 0u);
}

TEST_F(IsolatedBytes, OfANamedModelsFileAreReadOnceForTheWorker) {
  const TestFolder folder;
  std::string model = EchoModel("in x f32 1\nload_gate /nowhere\n");
  model.resize(kModelBytes, ' ');
  const HostPtr host = EchoHost(log, "worker = '" + WorkerFile() + "'\n[models.m]\nisolate = true\npath = '" +
                                         folder.Write("m.gguf", model) + "'\n");
  Program program(host.get());
  const size_t before = HeapBytes();
  uint32_t graph = 0;
  auto loading = std::async(std::launch::async, [&] { return program.LoadByName("m", graph); });
  while (!AWorkerHasIt()) std::this_thread::yield();
  EXPECT_EQ(SealedBytes(), kModelBytes);
  EXPECT_LT(HeapBytes(), before + kModelBytes / 2) << "nothing of it is on the heap";
  wasinn_guest_stop(program.guest.get());
  EXPECT_EQ(loading.get(), kRuntimeError);
}

TEST_F(IsolatedBytes, AreHashedOnce) {
  const auto blob = core::Blob::CopySealed(std::span(reinterpret_cast<const uint8_t*>("abc"), 3));
  ASSERT_TRUE(blob);
  EXPECT_EQ((*blob)->Digest(), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(&(*blob)->Digest(), &(*blob)->Digest());
}

// Before anything of them is copied.
TEST_F(IsolatedBytes, ThatAreTooManyAreRefusedWithTheWayOut) {
  const HostPtr host = Host("[limits]\nmax_model_bytes = 1000\n");
  Program program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel(std::string(2000, ' ')), kGgmlEncoding, graph), kTooLarge);
  EXPECT_EQ(program.Stats().model_bytes_copied, 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("(--model NAME=PATH)")));
}

}  // namespace
}  // namespace wasinn::testing
