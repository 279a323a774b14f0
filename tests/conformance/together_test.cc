// All frameworks in one OS process, opened in several orders, and used by many guests at once: each gives the bytes
// that it gives alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "formats.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

class TogetherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const HeldOut held_out = ReadHeldOut();
    std::ofstream config(folder_.path() / "host.toml");
    for (const Format& format : formats_) {
      config << "[models." << format.name << "]\npath = \"" << format.path() << "\"\nbackend = \"" << format.framework
             << "\"\n";
      const Bytes inputs = InputsOf(format, held_out);
      std::ofstream(folder_.path() / format.type, std::ios::binary)
          .write(reinterpret_cast<const char*>(inputs.data()), static_cast<std::streamsize>(inputs.size()));
      expected_[format.name] = RunReference(format, folder_.path() / format.type, folder_.path());
      ASSERT_GE(expected_[format.name].size(), kHeldOut);
    }
  }

  // Each model by name, and once more from a guest's bytes where that can be.
  static std::vector<std::string> TasksOf(const std::vector<Format>& formats) {
    std::vector<std::string> tasks, more;
    for (const Format& format : formats) {
      const std::string rest = std::string(":") + format.type + ":" + format.output + ":";
      tasks.push_back(format.name + rest + "name:" + format.name);
      const std::string files = format.guest_files();
      if (files.empty()) continue;
      more.push_back(std::string("Bytes") + format.name + rest + "bytes:" + std::to_string(format.encoding) + ":" +
                     files);
    }
    tasks.insert(tasks.end(), more.begin(), more.end());
    return tasks;
  }

  void Run(const std::vector<Format>& formats, size_t one_by_one) {
    const std::vector<std::string> tasks = TasksOf(formats);
    std::vector<std::string> argv = {InTestsBuild("bin/together"), folder_.path() / "host.toml",
                                     GuestFile("infer-witx"),      folder_.path(),
                                     InSources("models"),          std::to_string(one_by_one)};
    argv.insert(argv.end(), tasks.begin(), tasks.end());
    const CommandResult run = RunCommand(argv, {"TF_CPP_MIN_LOG_LEVEL=3"});
    ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
    EXPECT_EQ(Lines(run.out).size(), tasks.size() + one_by_one);
    for (const std::string& task : tasks) {
      std::string name = task.substr(0, task.find(':'));
      const std::filesystem::path outputs = folder_.path() / name;
      if (name.starts_with("Bytes")) name.erase(0, 5);
      EXPECT_TRUE(ReadBytes(outputs) == expected_[name]) << task << ": other bytes than the framework's own";
      std::filesystem::remove(outputs);
    }
  }

  const std::vector<Format> formats_ = BuiltFormats();
  const TempFolder folder_;
  std::map<std::string, Bytes> expected_;
};

// Every framework is once the first and once the last to be opened; and some orders by chance.
TEST_F(TogetherTest, InAnyOrder) {
  std::vector<Format> formats = formats_;
  for (size_t i = 0; i < formats.size(); ++i) {
    SCOPED_TRACE(std::string("first is ") + formats.front().name);
    ASSERT_NO_FATAL_FAILURE(Run(formats, formats.size()));
    std::ranges::rotate(formats, formats.begin() + 1);
  }
  std::mt19937 random(5);
  for (int i = 0; i < 3; ++i) {
    std::ranges::shuffle(formats, random);
    SCOPED_TRACE("shuffle " + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(Run(formats, formats.size()));
  }
}

// Nobody has opened a framework before: all do it at the same time.
TEST_F(TogetherTest, AllAtOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(Run(formats_, 0)) << i;
}

}  // namespace
}  // namespace wasinn::testing
