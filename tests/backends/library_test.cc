// How a framework's library is found in a folder: by its name, else by its name with a version behind.
#include "common/library.h"
#include "common/error.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

class LibraryOfAFolder : public ::testing::Test {
 protected:
  void Put(const std::string& name) const {
    fs::copy_file(testing::InThisBuild("lib/dependencies/libdependencies_needed.so"), folder_ / name);
  }
  // The file that was opened, or what was said.
  std::string Opened() const {
    static constexpr const char* kNames[] = {"libframework.so.1", "libframework.so"};
    try {
      const backend::Library library(
          {.framework = "Framework", .install = "nobody", .names = kNames, .configured = folder_.string()});
      return fs::path(library.PathOf(library.FindSymbol("DependenciesNeeded"))).filename().string();
    } catch (const backend::Error& error) {
      return error.what();
    }
  }

  const testing::TestFolder test_folder_;
  fs::path folder_ = fs::canonical(test_folder_.path());
};

TEST_F(LibraryOfAFolder, HasTheNewestVersion) {
  Put("libframework.so.1.9.0");
  Put("libframework.so.1.31.1");
  Put("libframework.so.1.4.10");
  EXPECT_EQ(Opened(), "libframework.so.1.31.1");
}

TEST_F(LibraryOfAFolder, HasThePlainNameFirst) {
  Put("libframework.so.1.31.1");
  Put("libframework.so");
  EXPECT_EQ(Opened(), "libframework.so");
}

TEST_F(LibraryOfAFolder, HasNumbersAloneAsVersions) {
  Put("libframework.so.1.bak");
  Put("libframework.so_1");
  EXPECT_THAT(Opened(), AllOf(HasSubstr("Framework's library was not found; nobody installs it\nlooked for: "),
                              Not(HasSubstr("bak"))));
}

TEST_F(LibraryOfAFolder, TheFilesThatWereLookedForAreOnALineOfTheirOwn) {
  folder_ = folder_ / "." / ".." / folder_.filename();
  const std::string said = Opened();
  const std::string line = said.substr(0, said.find('\n'));
  EXPECT_EQ(line, "Framework's library was not found; nobody installs it");
  EXPECT_THAT(said, AllOf(HasSubstr("/libframework.so.1, "), Not(HasSubstr(".."))));
}

TEST_F(LibraryOfAFolder, ThatDoesNotOpenIsNotOneThatWasNotFound) {
  std::ofstream(folder_ / "libframework.so") << "no library";
  EXPECT_THAT(Opened(), HasSubstr("Framework's library does not open ("));
}

}  // namespace
}  // namespace wasinn::test
