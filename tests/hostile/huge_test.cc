// Models and tensors of gigabytes: refused, and the host never has the memory.
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// A sanitizer has shadow memory, and keeps what is freed.
const size_t kOverhead = HasAddressSanitizer() ? size_t{700} << 20 : 0;
constexpr size_t kMegabyte = size_t{1} << 20;

// Runs it, checks it, and checks the most memory that the command ever had.
void ExpectSmall(const GuestRun& run, std::span<const Attack> attacks, size_t most) {
  const CommandResult result = run.Execute();
  ExpectAttacks(result, attacks);
  EXPECT_LT(result.peak_bytes / kMegabyte, (most + kOverhead) / kMegabyte) << "MiB";
}

std::vector<Attack> Shapes() {
  const std::vector<std::string> budget = {"compute: too_large: onnx: "};
  return {{"context"},
          {"output of 4 GiB", "too_large", budget},
          {"output of 4 GiB in squares", "too_large", budget},
          {"output of 300 MB", "too_large", budget},
          {"output of 2^64 bytes", "runtime_error", {"compute: runtime_error: onnx: "}},
          {"output of 2^65 elements", "runtime_error", {"compute: runtime_error: onnx: "}},
          {"output of -1", "runtime_error", {"compute: runtime_error: onnx: "}},
          {"output of rank 33", "unsupported_operation", {"33 dimensions"}},
          {"output of rank 1000", "unsupported_operation", {"1000 dimensions"}},
          {"output of 4 bytes"},
          {"output"},
          Line("its value is 1")};
}

TEST(HostileHuge, OutputsAndValuesInBetweenAreRefused) {
  const std::vector<std::string> declared = {"init_execution_context: too_large: ", "bytes of tensors would exceed"};
  std::vector<Attack> attacks = {{"huge_static by name"},
                                 {"huge_static context", "too_large", declared},
                                 {"huge_static as bytes"},
                                 {"huge_static context", "too_large", declared},
                                 {"huge_output by name"}};
  for (const bool named : {true, false}) {
    if (!named) attacks.push_back({"huge_output as bytes"});
    const std::vector<Attack> shapes = Shapes();
    attacks.insert(attacks.end(), shapes.begin(), shapes.end());
  }
  for (int i = 0; i < 2; ++i) {
    attacks.push_back({"huge_intermediate"});
    attacks.push_back({"huge_intermediate context"});
    attacks.push_back({"huge_intermediate input"});
    attacks.push_back({"huge_intermediate compute", "too_large", {"compute: too_large: onnx: "}});
  }
  attacks.push_back(Honest());
  const GuestRun run{.guest = "huge",
                     .flags = {"--nn-max-bytes", "256M", "--dir", SourcePath("tests/models/tiny") + "::/tiny"},
                     .models = {"huge_static", "huge_output", "huge_intermediate"},
                     .log_all = true};
  ExpectSmall(run, attacks, 600 * kMegabyte);
}

TEST(HostileHuge, TheLargestMemoryBringsNoMoreBytesThanAllowed) {
  const std::string outside = "is outside of the guest's memory";
  const std::vector<Attack> attacks = {
      Line("memory has 65536 pages"),
      {"a model of 2 GiB", "too_large", {"2147483648 more bytes of models would exceed the limit of 1073741824"}},
      {"a model of 4 GiB - 1", "too_large", {"4294967295 more bytes of models"}},
      {"a model of 16 parts of 3 GiB", "invalid_argument", {outside}},
      {"a model of 4 parts of 256 MB", "too_large", {"1073741825 more bytes of models would exceed the limit"}},
      {"an input of 2 GiB", "too_large", {"2147483648 more bytes of tensors would exceed the limit of 1073741824"}},
      {"an input of 4 GiB - 4", "too_large", {"4294967292 more bytes of tensors"}},
      {"an input of 4 GiB that wraps", "invalid_argument", {"needs 4294967296 bytes, given 0"}},
      {"an input past 4 GiB", "invalid_argument", {outside}},
      {"an input that ends at 4 GiB"},
      {"compute"},
      {"an output past 4 GiB", "invalid_argument", {outside}},
      {"an output that ends at 4 GiB"},
      Line("its value is 7"),
      {"a size that ends at 4 GiB"},
      {"a size past 4 GiB", "invalid_argument", {outside}},
      {"an output buffer of 4 GiB - 1"},
      {"builders past 4 GiB", "invalid_argument", {outside}},
      {"a name past 4 GiB", "invalid_argument", {outside}},
      {"a name that ends at 4 GiB", "not_found", {"no model is registered as"}},
      Honest()};
  ExpectSmall({.guest = "bytes_quota", .models = {"dynamic"}, .log_all = true}, attacks, 400 * kMegabyte);
}

}  // namespace
}  // namespace wasinn::testing
