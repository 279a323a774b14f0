// The sandbox of a worker that may use devices: calls that it lets through, and calls that it does not;
// sandbox_attacks_test.cc has those that no sandbox lets through. A device that every machine has stands in for a GPU's.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "support/files.h"
#include "worker/devices.h"
#include "worker/sandbox_support.h"
#include "worker/sealed.h"
#include "worker/without.h"

namespace wasinn::test {
namespace {

constexpr uint64_t kMany = uint64_t{1} << 20;
constexpr char kDevice[] = "/dev/zero", kOther[] = "/dev/full";
constexpr char kProcessors[] = "/sys/devices/system/cpu/online", kVirtual[] = "/sys/devices/virtual",
               kLoopback[] = "/sys/devices/virtual/net/lo/address";

worker::SandboxOptions WithDevices(const std::string& backend = "onnx") {
  worker::SandboxOptions options = worker::SandboxOptionsOf(backend);
  worker::AddDevices(options, {});
  options.devices.emplace_back(kDevice);
  options.devices.emplace_back("/etc/passwd");  // no device
  return options;
}

template <typename... Arguments>
long Try(long number, Arguments... arguments) {
  return syscall(number, arguments...) == -1 ? errno : 0;
}
long TryOpen(const std::string& path, int flags) { return Try(SYS_openat, AT_FDCWD, path.c_str(), flags, 0600); }

struct Trial {
  const char* name;
  std::function<long()> call;  // errno; 0: it was done
  long expected = 0;
};
void PrintTo(const Trial& trial, std::ostream* out) { *out << trial.name; }
std::string NameOfTrial(const ::testing::TestParamInfo<Trial>& trial) { return trial.param.name; }

// A container may lack parts of /sys.
int IfThere(const char* path, int error) { return access(path, F_OK) == 0 ? error : ENOENT; }

// The filter refuses with EPERM, Landlock with EACCES.
std::vector<Trial> TrialsOnFiles() {
  return {
      {"OpenADevice", [] { return TryOpen(kDevice, O_RDWR | O_CLOEXEC); }},
      {"OpenADeviceToBeWrittenOnly", [] { return TryOpen(kDevice, O_WRONLY); }, EPERM},
      {"OpenAnotherDevice", [] { return TryOpen(kOther, O_RDWR); }, EACCES},
      {"ReadAnotherDevice", [] { return TryOpen(kOther, O_RDONLY); }, EACCES},
      {"WriteWhatIsNoDevice", [] { return TryOpen("/etc/passwd", O_RDWR); }, EACCES},
      {"ReadAFile", [] { return TryOpen("/etc/passwd", O_RDONLY); }, EACCES},
      {"ReadALibrary", [] { return TryOpen("/usr/lib/os-release", O_RDONLY); }},
      {"WriteALibrary", [] { return TryOpen("/usr/lib/os-release", O_RDWR); }, EACCES},
      {"MakeAFile", [] { return TryOpen("/tmp/new", O_RDWR | O_CREAT); }, EPERM},
      {"EmptyAFile", [] { return TryOpen("/usr/lib/os-release", O_RDWR | O_TRUNC); }, EPERM},
      {"MakeAFileWithoutName", [] { return TryOpen("/tmp", O_RDWR | O_TMPFILE); }, EPERM},
      {"LookThroughAFolder", [] { return TryOpen("/tmp", O_RDONLY | O_DIRECTORY); }, EACCES},
      {"ReadItsMap", [] { return TryOpen("/proc/self/maps", O_RDONLY); }},
      {"WriteItsMemory", [] { return TryOpen("/proc/self/mem", O_RDWR); }, EACCES},
      {"ReadItsEnvironment", [] { return TryOpen("/proc/self/environ", O_RDONLY); }, EACCES},
      {"LookThroughItsDescriptors", [] { return TryOpen("/proc/self/fd", O_RDONLY | O_DIRECTORY); }, EACCES},
      {"ReadTheNetworksTables", [] { return TryOpen("/proc/self/net/tcp", O_RDONLY); }, EACCES},
      {"ReadItsParent", [] { return TryOpen("/proc/" + std::to_string(getppid()) + "/maps", O_RDONLY); }, EACCES},
      {"ReadTheProcessors", [] { return TryOpen(kProcessors, O_RDONLY); }, IfThere(kProcessors, 0)},
      {"LookThroughOtherDevices", [] { return TryOpen(kVirtual, O_RDONLY | O_DIRECTORY); }, IfThere(kVirtual, EACCES)},
      {"ReadTheNetworksDevices", [] { return TryOpen(kLoopback, O_RDONLY); }, IfThere(kLoopback, EACCES)},
      {"OpenByHandle", [] { return Try(SYS_open_by_handle_at, AT_FDCWD, nullptr, O_RDONLY); }, EPERM},
      {"Unlink", [] { return Try(SYS_unlinkat, AT_FDCWD, "/nothing", 0); }, EPERM},
      {"MakeADevice", [] { return Try(SYS_mknodat, AT_FDCWD, "/tmp/device", S_IFCHR | 0600, 0x105); }, EPERM},
      {"Mount", [] { return Try(SYS_mount, "none", "/", "tmpfs", 0, nullptr); }, EPERM},
      {"FileInMemory", [] { return Try(SYS_memfd_create, "memory", 0); }, EPERM}};
}

// Behind the seal the channel of a worker is the one socket that there is.
const int socket_of_before = socket(AF_UNIX, SOCK_SEQPACKET, 0);
const int device_of_before = open(kDevice, O_RDWR | O_CLOEXEC);

long TryRequest(int file, unsigned long request) {
  char answer[256] = {};
  return Try(SYS_ioctl, file, request, answer);
}

long TryPipe(int flags) {
  int ends[2];
  return Try(SYS_pipe2, ends, flags);
}

// A device answers an unknown request with ENOTTY: it came through.
std::vector<Trial> TrialsOnDevices() {
  return {{"RequestOfNvidia", [] { return TryRequest(device_of_before, 0xc020462a); }, ENOTTY},
          {"RequestOfNvidiaAsAnInt", [] { return TryRequest(device_of_before, ~0ul << 32 | 0xc020462a); }, ENOTTY},
          {"RequestOfUnifiedMemory", [] { return TryRequest(device_of_before, 73); }, ENOTTY},
          {"BeginUnifiedMemory", [] { return TryRequest(device_of_before, 0x30000001); }, ENOTTY},
          {"RequestOfDrm", [] { return TryRequest(device_of_before, 0xc0406400); }, ENOTTY},
          {"RequestOfKfd", [] { return TryRequest(device_of_before, 0x80084b01); }, ENOTTY},
          {"RequestOfAnother", [] { return TryRequest(device_of_before, 0x30000003); }, EPERM},
          {"NetworksOfASocket", [] { return TryRequest(socket_of_before, 0x8912); }, EPERM},
          {"KeysOfATerminal", [] { return TryRequest(0, 0x5412); }, EPERM},
          {"AttributesOfATerminal", [] { return TryRequest(0, 0x5401); }, EPERM},
          {"HolesInAFile", [] { return TryRequest(device_of_before, 0x40305828 + 3); }, EPERM},
          {"OwnerOfADescriptor", [] { return Try(SYS_fcntl, device_of_before, F_SETOWN, getppid()); }, EPERM},
          {"CopyOfADescriptor", [] { return Try(SYS_fcntl, device_of_before, F_DUPFD_CLOEXEC, 10); }},
          {"WakeUp", [] { return Try(SYS_eventfd2, 0, EFD_CLOEXEC); }},
          {"Pipe", [] { return TryPipe(O_CLOEXEC | O_NONBLOCK); }},
          {"PipeOfTheKernelsNotes", [] { return TryPipe(O_EXCL /* O_NOTIFICATION_PIPE */); }, EPERM}};
}

long TryMap(size_t bytes, int protection, int flags) {
  return mmap(nullptr, bytes, protection, flags, -1, 0) == MAP_FAILED ? errno : 0;
}

std::vector<Trial> TrialsOnMemory() {
  constexpr int kRead = PROT_READ, kWrite = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  return {{"ExecutableMemory", [=] { return TryMap(kMany, kRead | PROT_EXEC, kPrivate); }},
          {"SharedMemory", [=] { return TryMap(kMany, kWrite, MAP_SHARED | MAP_ANONYMOUS); }},
          {"ManyAddresses", [=] { return TryMap(size_t{1} << 40, PROT_NONE, kPrivate | MAP_NORESERVE); }},
          {"MemoryWithinTheLimit", [=] { return TryMap(64 * kMany, kWrite, kPrivate); }},
          {"MemoryForTheDriver", [=] { return TryMap(1024 * kMany, kWrite, kPrivate); }},
          {"MemoryBeyondBoth", [=] { return TryMap(1200 * kMany, kWrite, kPrivate); }, ENOMEM},
          {"MemoryThatGrowsUncounted", [=] { return TryMap(kMany, kWrite, kPrivate | MAP_GROWSDOWN); }, EPERM},
          {"HugePages", [=] { return TryMap(kMany, kWrite, kPrivate | MAP_HUGETLB); }, EPERM},
          {"SystemVMemory", [] { return Try(SYS_shmget, 0, kMany, 0600); }, EPERM},
          {"MoreMemory",
           [] {
             const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
             return Try(SYS_prlimit64, 0, RLIMIT_DATA, &all, nullptr);
           },
           EPERM}};
}

class SandboxWithDevices : public ::testing::TestWithParam<Trial> {};

TEST_P(SandboxWithDevices, Answers) {
  const Trial& trial = GetParam();
  const Ended ended = InSealed(WithDevices(), 64 * kMany, [&] { return static_cast<int>(trial.call()); });
  EXPECT_EQ(ended.exit_code, trial.expected) << ended;
}

INSTANTIATE_TEST_SUITE_P(Files, SandboxWithDevices, ::testing::ValuesIn(TrialsOnFiles()), NameOfTrial);
INSTANTIATE_TEST_SUITE_P(Devices, SandboxWithDevices, ::testing::ValuesIn(TrialsOnDevices()), NameOfTrial);
INSTANTIATE_TEST_SUITE_P(Memory, SandboxWithDevices, ::testing::ValuesIn(TrialsOnMemory()), NameOfTrial);

// A model of the CPU's is behind this one, whatever its guest's policy says.
TEST(SandboxWithoutDevices, OpensAndAsksNone) {
  for (const char* backend : {"onnx", "openvino", "torch", "tensorflow", "llama"}) {
    const Ended ended = InSealed(worker::SandboxOptionsOf(backend), 64 * kMany, [] {
      if (TryOpen(kDevice, O_RDWR) != EPERM) return 1;
      return TryRequest(device_of_before, 0xc020462a) == EPERM ? 0 : 2;
    });
    EXPECT_EQ(ended.exit_code, 0) << backend << ": " << ended;
  }
}

// OpenVINO opens files behind its own sandbox, TensorFlow asks for its threads' priority: no rule of theirs is in the way.
TEST(SandboxDevices, AreThereForEachFramework) {
  for (const char* backend : {"openvino", "torch", "tensorflow", "llama", "tflite", "another"}) {
    const Ended ended = InSealed(WithDevices(backend), 64 * kMany, [] {
      if (TryOpen(kDevice, O_RDWR) != 0) return 1;
      return TryOpen("/etc/passwd", O_RDONLY) == EACCES ? 0 : 2;
    });
    EXPECT_EQ(ended.exit_code, 0) << backend << ": " << ended;
  }
}

TEST(SandboxDevices, LeaveTheOtherLimits) {
  const Ended ended = InSealed(WithDevices(), 64 * kMany, [] {
    const auto most = [](int resource) {
      rlimit limit = {};
      return getrlimit(resource, &limit) == 0 ? limit.rlim_max : 0;
    };
    if (most(RLIMIT_CORE) != 0) return 1;
    if (most(RLIMIT_NOFILE) != 512) return 2;
    return most(RLIMIT_DATA) == RLIM_INFINITY ? 3 : 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxDevices, LetFilesInMemoryGrowALittle) {
  const int memory = memfd_create("jit", MFD_CLOEXEC);
  const Ended ended = InSealed(WithDevices(), 0, [&] {
    if (Try(SYS_ftruncate, memory, 64 * kMany) != 0) return 1;
    return Try(SYS_ftruncate, memory, 64 * kMany + 1) == EFBIG ? 0 : 2;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  close(memory);
}

// Before the seal already, where nothing of a guest has come.
TEST(SandboxDevices, AreTheOnlyOnesFromTheBeginning) {
  const Ended ended = InChild([] {
    const auto sandbox = worker::Sandbox::RaiseBeforeThreads(WithDevices());
    if (!sandbox) throw std::runtime_error(sandbox.error());
    if (open(kDevice, O_RDWR) < 0) return 1;
    if (open(kOther, O_RDWR) >= 0 || errno != EACCES) return 2;
    return open("/tmp/new", O_RDWR | O_CREAT, 0600) < 0 && errno == EACCES ? 0 : 3;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxDevices, NeedLandlock) {
  const Ended ended = InChild([] {
    Without("landlock_create_ruleset", ENOSYS);
    const auto refused = worker::Sandbox::RaiseBeforeThreads(WithDevices());
    return !refused && refused.error().find("Landlock") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  const worker::SandboxSupport without = {
      .seccomp = true, .no_new_privs = true, .seals = true, .exec_memory = false, .landlock = 0};
  EXPECT_EQ(without.Missing(WithDevices()), "writable memory that may become executable, Landlock");
}

// ---- What is added to a sandbox

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Devices, ReadTheDriversThatVariablesName) {
  const testing::TestFolder folder;
  const std::string absolute = folder.Write("a.json", R"({"ICD": {"library_path": "/opt/driver/a.so"}})");
  const std::string beside = folder.Write("b.json", R"({"ICD": {"library_path": "../b.so"}})");
  const std::string of_system = folder.Write("c.json", R"({"ICD": {"library_path": "libc.so"}})");
  const std::string broken = folder.Write("d.json", R"({"ICD": {"library_path": 7}})");
  const Variable files("VK_DRIVER_FILES", absolute + ":" + beside + "::relative.json");
  const Variable more("VK_ICD_FILENAMES", of_system + ":" + broken + ":/nowhere.json");
  const std::string b = (folder.path() / "../b.so").lexically_normal();
  EXPECT_EQ(worker::NamedVulkanDrivers(),
            (std::vector<std::string>{absolute, "/opt/driver/a.so", beside, b, of_system, broken, "/nowhere.json"}));
}

TEST(Devices, AddFoldersButNoFilesThatRevealTooMuch) {
  const Variable folders("LD_LIBRARY_PATH", "/opt/cuda/lib:relative::/:/opt/more");
  worker::SandboxOptions options = worker::SandboxOptionsOf("onnx");
  ASSERT_THAT(options.readable, Contains("/proc/self"));
  worker::AddDevices(options, {"/opt/framework"});
  for (const char* path : {"/opt/framework", "/opt/cuda/lib", "/opt/more", "/usr/lib", "/proc/self/maps"}) {
    EXPECT_THAT(options.readable, Contains(path));
  }
  EXPECT_THAT(options.readable, Each(StartsWith("/")));
  for (const char* path : {"/", "/proc/self", "/proc", "/sys", "/etc", "/dev", "/tmp", "/root", "/home"}) {
    EXPECT_THAT(options.readable, Not(Contains(path)));
  }
  EXPECT_THAT(options.devices, Each(StartsWith("/dev/")));
  EXPECT_THAT(options.environment, Contains(Pair("CUDA_CACHE_DISABLE", "1")));
  // Its server is a process of many, which is spoken to by a socket from before the seal.
  EXPECT_THAT(options.environment, Contains(Pair("CUDA_MPS_PIPE_DIRECTORY", "/dev/null")));
}

// Settings, keys and other people's files lie there, too.
TEST(Devices, OnlyReadTheLibrariesInABroadFolder) {
  const std::string number = std::to_string(getpid());
  const std::string library = "/tmp/libwasinn_of_devices_" + number + ".so.1",
                    secret = "/tmp/wasinn_of_devices_" + number;
  for (const std::string& file : {library, secret}) std::ofstream(file) << "7";
  const Variable folders("LD_LIBRARY_PATH", "//:/usr/..:/usr/./:/tmp/:/home/nobody:/home/nobody/lib");
  worker::SandboxOptions options = worker::SandboxOptionsOf("onnx");
  worker::AddDevices(options, {"/", "/tmp", "/opt/framework"});
  EXPECT_THAT(options.readable, Contains(library));
  EXPECT_THAT(options.readable, Contains("/home/nobody/lib"));
  EXPECT_THAT(options.readable, Contains("/opt/framework"));
  for (const std::string& path : options.readable) {
    const std::filesystem::path folder = std::filesystem::weakly_canonical(path);
    for (const char* broad : {"/", "/usr", "/tmp", "/home/nobody"}) EXPECT_NE(folder, broad) << path;
    EXPECT_NE(path, secret);
  }
  for (const std::string& file : {library, secret}) std::filesystem::remove(file);
}

// The first two of them change how a GPU is divided, and watch all parts of it.
TEST(Devices, OpenTheirOwnPartOfAGpu) {
  std::istringstream minors("config 1\nmonitor 2\ngpu0/gi3/access 30\ngpu0/gi3/ci0/access 31\nbroken\n");
  EXPECT_EQ(worker::PartsOfGpus(minors), (std::vector<std::string>{"nvidia-cap30", "nvidia-cap31"}));
}

}  // namespace
}  // namespace wasinn::test
