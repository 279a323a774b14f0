#include "worker/wall.h"

namespace wasinn::worker {
namespace {

constexpr uint64_t kGibibyte = uint64_t{1} << 30;

}  // namespace

Wall WallOf(std::string_view backend) {
  // It looks through its folder for each model that it reads, and then whether a file is there.
  if (backend == "openvino") {
    return {.more_calls = {"fcntl", "getdents64", "newfstatat", "openat", "stat"}, .exec_memory = true};
  }
  if (backend == "tensorflow") return {.exec_memory = true};
  // The backends' own: kParserStack; kSchemaStack and kGrammarStack.
  if (backend == "torch") return {.stack_bytes = kGibibyte};
  if (backend == "llama") return {.stack_bytes = kGibibyte / 4};
  return {};
}

}  // namespace wasinn::worker
