// Optimized models that are kept on disk (cache_dir).
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "backends/expect.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

const std::string kDigits = testing::InSources("models/digits.onnx");

class OnnxCache : public ::testing::Test {
 protected:
  std::string Config(const std::string& more = "") const {
    return R"({"cache_dir": ")" + folder_.string() + "\"" + more + "}";
  }

  // But for the folder's key.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    if (!fs::exists(folder_)) return files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename() != "key") files.push_back(entry.path());
    }
    return files;
  }

  struct Loaded {
    bool kept = false;  // it came from the folder
    std::string output;
    std::string log;
    bool operator==(const Loaded&) const = default;
  };
  // A file of floats with one output, each input of which is counted up.
  static Loaded Load(const std::string& config, const std::string& path, LoadOptions options = {}) {
    const Host host(config);
    EXPECT_TRUE(host.opened()) << host.opened().message;
    options.path = path;
    return LoadOn(host, ReadFile(path), options);
  }
  static Loaded LoadOn(const Host& host, const std::string& bytes, const LoadOptions& options) {
    Loaded result;
    const Model model(host, bytes, options);
    EXPECT_TRUE(model.loaded()) << model.loaded().message;
    if (!model.loaded()) return result;
    Context context(model);
    std::vector<int64_t> dims;
    size_t n = 1;
    for (int32_t i = 0; i < model.input(0).rank; ++i) {
      dims.push_back(model.input(0).dims[i] < 0 ? 3 : model.input(0).dims[i]);
      n *= static_cast<size_t>(dims.back());
    }
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 17);
    EXPECT_TRUE(context.Set(0, Floats(dims, values)));
    MustCompute(&context);
    result = {std::string(host.table().describe(model.get())).find(R"("kept":true)") != std::string::npos,
              MustGet(&context, 0).bytes, host.log()};
    return result;
  }

  // As `Load`, and that it gives what is right.
  Loaded MustLoad(const std::string& path = kDigits) {
    const Loaded loaded = Load(Config(), path);
    EXPECT_EQ(loaded.output, Load("{}", path).output) << path;
    return loaded;
  }

  const testing::TestFolder test_folder_;
  const fs::path here_ = test_folder_.path(), folder_ = here_ / "below" / "cache";
};

mode_t ModeOf(const fs::path& path) {
  struct stat its = {};
  return lstat(path.c_str(), &its) == 0 ? its.st_mode & 07777 : 0;
}

TEST_F(OnnxCache, GivesTheSameResultsFromThere) {
  for (const std::string& path : {kDigits, ModelPath("external.onnx"), ModelPath("mean.onnx")}) {
    EXPECT_FALSE(MustLoad(path).kept) << path;
    const Loaded again = MustLoad(path);
    EXPECT_TRUE(again.kept) << path;
    EXPECT_THAT(again.log, IsEmpty());
  }
  EXPECT_THAT(Files(), SizeIs(3));
}

TEST_F(OnnxCache, IsForThisUserAlone) {
  const mode_t before = umask(0);
  MustLoad();
  umask(before);
  EXPECT_EQ(ModeOf(folder_), 0700);
  EXPECT_EQ(ModeOf(folder_ / "key"), 0600);
  ASSERT_THAT(Files(), SizeIs(1)) << "nothing temporary stays";
  EXPECT_EQ(ModeOf(Files().front()), 0600);
}

TEST_F(OnnxCache, KeepsModelsOfTheHostOnly) {
  const Host host(Config());
  EXPECT_FALSE(LoadOn(host, ReadFile(kDigits), {}).kept);
  LoadOptions options;
  options.path = kDigits;
  options.guest_config = R"({"optimization": "basic"})";
  EXPECT_FALSE(LoadOn(host, ReadFile(kDigits), options).kept);
  EXPECT_THAT(Files(), IsEmpty());
  options.guest_config = R"({"cache_dir": ")" + (here_ / "other").string() + "\"}";
  LoadOn(host, ReadFile(kDigits), options);
  EXPECT_FALSE(fs::exists(here_ / "other"));
  // Nor do guests' bytes come from there.
  EXPECT_TRUE(MustLoad().kept);
  EXPECT_FALSE(LoadOn(host, ReadFile(kDigits), {}).kept);
}

TEST_F(OnnxCache, ReplacesWhatIsNotWhole) {
  MustLoad();
  ASSERT_THAT(Files(), SizeIs(1));
  const fs::path file = Files().front();
  const std::string whole = ReadFile(file.string());
  const auto write = [&](const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; };
  std::string flipped = whole, zeroed = whole;
  flipped[whole.size() / 2] ^= 1;
  std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2), zeroed.end(), '\0');
  for (const std::string& broken : {std::string(), std::string("x"), whole.substr(0, whole.size() - 1), whole + "x",
                                    whole.substr(0, whole.size() / 2), flipped, zeroed, ReadFile(kDigits)}) {
    write(broken);
    EXPECT_FALSE(MustLoad().kept) << broken.size();
    EXPECT_EQ(ReadFile(file.string()), whole);
    EXPECT_TRUE(MustLoad().kept);
  }
}

// Whole, but for another model: only a program with the folder's key gives a file its name.
TEST_F(OnnxCache, TakesNoFileByAnothersName) {
  MustLoad();
  const fs::path digits = Files().front();
  MustLoad(ModelPath("mean.onnx"));
  for (const fs::path& file : Files()) {
    if (file != digits) fs::copy_file(file, digits, fs::copy_options::overwrite_existing);
  }
  EXPECT_FALSE(MustLoad().kept);
  EXPECT_TRUE(MustLoad().kept);
}

TEST_F(OnnxCache, WaitsForNothingAndFollowsNoLink) {
  MustLoad();
  const fs::path file = Files().front();
  const auto kept = here_ / "elsewhere";
  fs::copy_file(file, kept);
  fs::remove(file);
  fs::create_symlink(kept, file);
  EXPECT_FALSE(MustLoad().kept);
  EXPECT_FALSE(fs::is_symlink(file)) << "replaced";
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(MustLoad().kept);
  EXPECT_TRUE(MustLoad().kept);
  fs::remove(file);
  fs::create_directories(file / "in the way");
  const Loaded loaded = MustLoad();
  EXPECT_FALSE(loaded.kept);
  EXPECT_THAT(loaded.log, HasSubstr("not kept"));
  EXPECT_THAT(Files(), SizeIs(1)) << "nothing temporary stays";
}

TEST_F(OnnxCache, IsNotUsedWhereOthersCanWrite) {
  for (const mode_t mode : {0777, 0770, 0755}) {
    fs::create_directories(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    const Loaded loaded = MustLoad();
    EXPECT_THAT(loaded.log, HasSubstr("mode 0700"));
    EXPECT_THAT(Files(), IsEmpty());
    EXPECT_FALSE(fs::exists(folder_ / "key"));
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  MustLoad();
  ASSERT_EQ(chmod((folder_ / "key").c_str(), 0604), 0);
  EXPECT_FALSE(MustLoad().kept);
  ASSERT_EQ(chmod((folder_ / "key").c_str(), 0600), 0);
  EXPECT_TRUE(MustLoad().kept);
  std::ofstream(folder_ / "key", std::ios::trunc) << "short";
  EXPECT_THAT(MustLoad().log, HasSubstr("is not a key"));
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file";
  EXPECT_THAT(MustLoad().log, HasSubstr("warning: cache_dir"));
}

TEST_F(OnnxCache, KnowsAModelByAllThatItIs) {
  const fs::path model = here_ / "external.onnx", weights = here_ / "external.bin";
  fs::copy_file(ModelPath("external.onnx"), model);
  fs::copy_file(ModelPath("external.bin"), weights);
  MustLoad(model.string());
  EXPECT_TRUE(MustLoad(model.string()).kept);
  const std::string before = Load("{}", model.string()).output;
  std::ofstream(weights, std::ios::binary | std::ios::in).write("\0\0\0\x42", 4);  // 32.0F
  EXPECT_FALSE(MustLoad(model.string()).kept);
  EXPECT_NE(Load(Config(), model.string()).output, before);
  // And by what was asked for.
  MustLoad();
  for (const char* more : {R"(, "optimization": "basic")", R"(, "session": {"session.set_denormal_as_zero": "1"})"}) {
    EXPECT_FALSE(Load(Config(more), kDigits).kept) << more;
    EXPECT_TRUE(Load(Config(more), kDigits).kept) << more;
  }
  EXPECT_TRUE(MustLoad().kept);
  // With nothing to optimize, or weights in a file of their own, nothing is kept.
  const size_t files = Files().size();
  for (const char* more : {R"(, "optimization": "off")",
                           R"(, "session": {"session.optimized_model_external_initializers_file_name": "w.bin"})"}) {
    Load(Config(more), kDigits);
    EXPECT_FALSE(Load(Config(more), kDigits).kept) << more;
  }
  EXPECT_THAT(Files(), SizeIs(files));
}

TEST_F(OnnxCache, AModelsOwnFolderComesFirst) {
  LoadOptions options;
  options.host_config = R"({"cache_dir": ")" + (here_ / "own").string() + "\"}";
  Load(Config(), kDigits, options);
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_TRUE(Load(Config(), kDigits, options).kept);
}

// One that is no model, or refused by ONNX Runtime, fails as ever, and leaves nothing.
TEST_F(OnnxCache, AModelThatDoesNotLoadIsNotKept) {
  const Host host(Config()), plain;
  LoadOptions options;
  options.path = kDigits;
  std::string bytes = ReadFile(kDigits);
  bytes.resize(bytes.size() / 2);
  for (const std::string& broken : {std::string("none"), bytes, ModelBytes("identity_f16.onnx").substr(0, 40)}) {
    const Model model(host, broken, options);
    const Model without(plain, broken, options);
    EXPECT_FALSE(model.loaded());
    EXPECT_EQ(model.loaded().code, without.loaded().code);
    EXPECT_EQ(model.loaded().message, without.loaded().message);
  }
  EXPECT_THAT(Files(), IsEmpty());
}

// A limit on the size of files ends a program that writes more by a signal.
TEST_F(OnnxCache, WritesNoMoreThanTheProcessMay) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Loaded loaded = Load(Config(), kDigits);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(loaded.output, SizeIs(::testing::Gt(0u)));
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_FALSE(MustLoad().kept);
  EXPECT_TRUE(MustLoad().kept);
}

TEST_F(OnnxCache, WantsAnAbsolutePath) {
  EXPECT_EQ(Host(R"({"cache_dir": "relative"})").opened().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Host(R"({"cache_dir": 1})").opened().code, WASINN_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
