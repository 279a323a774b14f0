// The same as remote_answer over HTTP: metadata and answers in JSON, with or without raw bytes after it. An input has a
// limit, the length of the JSON and that of the metadata, then both texts.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/remote_taken.h"
#include "remote/exchange.h"
#include "remote/json.h"

namespace wasinn::fuzz {
namespace {

// A skipped value ends at the same place as if it were parsed.
void CheckSkip(std::string_view text) {
  std::string_view value;
  if (CodeOf([&] { value = remote::JsonCursor(text).Skip(); }) != WASINN_OK) return;
  FUZZ_EXPECT(!value.empty() && value.size() <= text.size());
  remote::JsonCursor again(value);
  FUZZ_EXPECT(again.Skip() == value);
  again.ExpectEnd();
}

void Check(Choices choices) {
  const auto most = choices.Number<uint16_t>();
  const auto head = choices.Number<uint16_t>();
  const std::string_view metadata = choices.Text(choices.Number<uint16_t>());
  const std::string_view answer = choices.Rest();
  CheckSkip(answer);
  constexpr std::string_view kNames[] = {"binary_tensor_data"};
  CodeOf([&] { (void)remote::HasExtension(metadata, kNames); });
  (void)remote::StatusOf(400, answer);
  std::optional<Signature> signature;
  CodeOf([&] { signature.emplace(remote::ReadJsonMetadata(metadata)); });
  if (!signature) return;
  const auto read = [&](uint64_t json) {
    return [=](const grpc::ByteBuffer&) { return remote::ReadJsonAnswer(answer, json, remote::kMaxTensors); };
  };
  const grpc::ByteBuffer message = Message(answer, answer.size());
  const Taken whole(*signature, message, 0, read(answer.size())),
      limited(*signature, message, most, read(answer.size()));
  const Taken with_raw(*signature, message, most, read(head));  // which check themselves
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Check(wasinn::fuzz::Choices({data, size}));
  return 0;
}
