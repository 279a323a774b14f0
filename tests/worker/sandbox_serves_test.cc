// The calls that must work in the sandbox: workers and frameworks need them.
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "core/isolation/socket.h"
#include "support/test.h"
#include "worker/sealed.h"

namespace wasinn::test {
namespace {

constexpr size_t kServedMebibyte = size_t{1} << 20;

TEST(SandboxServes, MemoryThatTheHostShares) {
  auto channel = isolation::Socket::MakePair();
  ASSERT_TRUE(channel);
  const int memory = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(memory, 4096), 0);
  const std::array<uint8_t, 1> message = {1};
  ASSERT_EQ(channel->first.Send(message, {&memory, 1}), isolation::Socket::Sent::kDone);
  const Ended ended = InSealed({}, kServedMebibyte, [&] {
    pollfd waiting = {channel->second.number(), POLLIN, 0};
    if (poll(&waiting, 1, -1) != 1) return 1;
    std::array<uint8_t, 1> buffer = {};
    std::array<base::Descriptor, 1> descriptors;
    size_t taken = 0;
    (void)channel->second.Receive(buffer, descriptors, taken);
    void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0].number(), 0);
    if (mapped == MAP_FAILED) return 2;
    descriptors[0] = base::Descriptor();
    std::memcpy(mapped, "seen", 5);
    return munmap(mapped, 4096) == 0 ? 0 : 3;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  std::array<char, 5> seen = {};
  EXPECT_EQ(pread(memory, seen.data(), seen.size(), 0), 5);
  EXPECT_STREQ(seen.data(), "seen");
  close(memory);
}

TEST(SandboxServes, WakeUps) {
  const int event = eventfd(0, EFD_CLOEXEC);
  const Ended ended = InSealed({}, 0, [&] {
    uint64_t count = 7;
    std::thread([&] { static_cast<void>(!write(event, &count, sizeof count)); }).join();
    pollfd waiting = {event, POLLIN, 0};
    const timespec a_second = {1, 0};
    if (ppoll(&waiting, 1, &a_second, nullptr) != 1) return 1;
    count = 0;
    return read(event, &count, sizeof count) == sizeof count && count == 7 ? 0 : 2;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  close(event);
}

TEST(SandboxServes, UsualWorkOfAnyProgram) {
  const Ended ended = InSealed({}, 256 * kServedMebibyte, [] {
    bool is_caught = false;
    try {
      throw std::runtime_error("an exception");
    } catch (const std::exception&) {
      is_caught = true;
    }
    if (!is_caught) return 6;
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    if (std::chrono::steady_clock::now() <= begin) return 1;
    if (std::random_device()() == std::random_device()() && std::random_device()() == 0) return 2;
    if (std::thread::hardware_concurrency() == 0 || sysconf(_SC_NPROCESSORS_CONF) < 1) return 3;
    rlimit limit = {};
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 4;
    if (std::fopen("/etc/hostname", "r") != nullptr) return 5;
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// Each with memory of its own (glibc's arenas), large and small, that grows, shrinks and goes.
TEST(SandboxServes, ThreadsThatAllocate) {
  const Ended ended = InSealed({}, 512 * kServedMebibyte, [] {
    std::atomic<int> done = 0;
    for (int round = 0; round < 8; ++round) {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
          std::string text;
          for (size_t size = 1; size <= 4 * kServedMebibyte; size *= 2) {
            text.resize(size, 'x');
            text.shrink_to_fit();
          }
          void* memory = std::malloc(2 * kServedMebibyte);
          void* larger = std::realloc(memory, 8 * kServedMebibyte);
          done += larger != nullptr ? 1 : 0;
          std::free(larger != nullptr ? larger : memory);
        });
      }
    }
    return done == 64 ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxServes, AnEndByAbort) {
  const Ended ended = InSealed({}, 0, []() -> int { std::abort(); });
  EXPECT_EQ(ended.signal, SIGABRT) << ended;
}

TEST(SandboxServes, ASignalToItself) {
  const Ended ended = InSealed({}, 0, [] {
    static std::atomic<int> signals = 0;
    signal(SIGUSR1, [](int) { ++signals; });
    if (kill(getpid(), SIGUSR1) != 0 || raise(SIGUSR1) != 0) return -1;
    return signals.load();
  });
  EXPECT_EQ(ended.exit_code, 2) << ended;
}

TEST(SandboxMemory, EndsWithBadAlloc) {
  const Ended ended = InSealed({}, 64 * kServedMebibyte, [] {
    std::vector<std::unique_ptr<char[]>> all;
    try {
      for (;;) {
        all.push_back(std::make_unique<char[]>(kServedMebibyte));
      }
    } catch (const std::bad_alloc&) {
      std::puts("no memory");
    }
    const size_t count = all.size();
    all.clear();
    const auto again = std::make_unique<char[]>(32 * kServedMebibyte);  // it goes on
    return count > 48 && count <= 64 ? 0 : static_cast<int>(count);
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// The limit leaves no stack.
TEST(SandboxMemory, EndsThreadsWithAnError) {
  const Ended ended = InSealed({}, kServedMebibyte, [] {
    try {
      std::thread([] {}).join();
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    return 0;
  });
  EXPECT_EQ(ended.exit_code, EAGAIN) << ended;
}

// Memory with a descriptor of its own, and files.
TEST(SandboxMemory, IsNotInFilesThatWereOpenBefore) {
  const int memory = memfd_create("open", MFD_CLOEXEC);
  const Ended ended = InSealed({}, 0, [&] { return write(memory, "more", 4) < 0 ? errno : 0; });
  EXPECT_EQ(ended.exit_code, EFBIG) << ended;
  close(memory);
}

}  // namespace
}  // namespace wasinn::test
