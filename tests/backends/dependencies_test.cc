// The dynamic linker's search for a library's dependencies: libraries of the build with their words changed, in place.
#include "backends/thrown.h"
#include "common/library.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

// The RUNPATH that both libraries are linked with.
constexpr std::string_view kRunpath = "/the/runpath/of/this/library/in/the/tests/of/its/dependencies";
constexpr std::string_view kNeeded = "libdependencies_needed.so";

// A library of the build.
std::string Linked(const std::string& name) {
  return testing::InThisBuild("lib/dependencies/libdependencies_" + name + ".so");
}

class Dependencies : public ::testing::Test {
 protected:
  // With `to`, which ends by a zero, at the place of `from`.
  static std::string Changed(std::string bytes, std::string_view from, const std::string& to) {
    const size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    EXPECT_LE(to.size(), from.size());
    return at == std::string::npos ? bytes : bytes.replace(at, to.size() + 1, to.c_str(), to.size() + 1);
  }
  // A library that needs another one.
  fs::path Library(const std::string& runpath) const {
    return folder_.Write("libmain.so", Changed(testing::ReadFile(Linked("main")), kRunpath, runpath));
  }
  // Returns the error of the library.
  static std::optional<std::string> Check(const fs::path& library) {
    const std::string wrong = Refused(WASINN_ERROR_UNSUPPORTED_OPERATION, [&] { backend::CheckDependencies(library); });
    return wrong.empty() ? std::nullopt : std::optional(wrong);
  }

  const testing::TestFolder folder_;
};

TEST_F(Dependencies, MayBeInAbsoluteFoldersAndBesideTheLibrary) {
  for (const char* runpath :
       {"", "$ORIGIN", "${ORIGIN}", "$ORIGIN/../lib", "/usr/lib:/opt/lib", "/opt/$LIB:$ORIGIN/"}) {
    EXPECT_EQ(Check(Library(runpath)), std::nullopt) << runpath;
  }
  EXPECT_EQ(Check(Linked("main")), std::nullopt);
}

TEST_F(Dependencies, MayNotBeInTheWorkingFolder) {
  for (const char* runpath :
       {"$ORIGIN:", ":$ORIGIN", "/usr/lib::/opt/lib", ":", "lib", "./lib:/usr/lib", "..", "$LIB"}) {
    const auto wrong = Check(Library(runpath));
    ASSERT_TRUE(wrong) << runpath;
    EXPECT_THAT(*wrong, AllOf(HasSubstr("libmain.so"), HasSubstr(std::string("'") + runpath + "'"),
                              HasSubstr("working folder"), HasSubstr("patchelf --set-rpath")));
  }
}

TEST_F(Dependencies, MayNotBePathsFromTheWorkingFolder) {
  const std::string main = Changed(testing::ReadFile(Linked("main")), kRunpath, "$ORIGIN");
  const auto wrong = Check(folder_.Write("libmain.so", Changed(main, kNeeded, "lib/needed.so")));
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, AllOf(HasSubstr("libmain.so"), HasSubstr("'lib/needed.so'"), HasSubstr("working folder")));
  EXPECT_EQ(Check(folder_.Write("libmain.so", Changed(main, kNeeded, "/lib/needed.so"))), std::nullopt);
}

TEST_F(Dependencies, AreLookedAtToo) {
  const fs::path main = Library("/nonexistent:$ORIGIN");
  folder_.Write(kNeeded, Changed(testing::ReadFile(Linked("needed")), kRunpath, "$ORIGIN:"));
  const auto wrong = Check(main);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, AllOf(HasSubstr(std::string(kNeeded)), HasSubstr("'$ORIGIN:'")));
  // Two that need each other.
  folder_.Write(kNeeded, Changed(testing::ReadFile(Linked("main")), kRunpath, "$ORIGIN"));
  EXPECT_EQ(Check(main), std::nullopt);
}

TEST_F(Dependencies, OfNoLibraryAreTheLinkersToComplainOf) {
  EXPECT_EQ(Check("/nonexistent/lib.so"), std::nullopt);
  EXPECT_EQ(Check("/"), std::nullopt);
  EXPECT_EQ(Check(folder_.Write("empty.so", "")), std::nullopt);
  EXPECT_EQ(Check(folder_.Write("text.so", "INPUT(-lmain)")), std::nullopt);
  const std::string bytes = testing::ReadFile(Library("$ORIGIN"));
  for (size_t size = 0; size < bytes.size(); size += 61) Check(folder_.Write("cut.so", bytes.substr(0, size)));
  const fs::path flipped = folder_.Write("flipped.so", bytes);
  std::fstream file(flipped, std::ios::in | std::ios::out | std::ios::binary);
  for (size_t i = 0; i < 512; ++i) {  // the header and the segments
    for (const char value : {'\0', '\x7f', '\xff', bytes[i]}) {
      file.seekp(static_cast<std::streamoff>(i)).put(value).flush();
      if (value != bytes[i]) Check(flipped);
    }
  }
}

}  // namespace
}  // namespace wasinn::test
