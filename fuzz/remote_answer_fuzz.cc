// Answers of servers to the backend `remote`: descriptions of a model, and answers to an inference. Any bytes lead to
// outputs or to an error of ours, and to the same one in however many slices the message came. An output has as many
// bytes as its shape says, and an answer allocates no more than a compute may. An input has the length of a slice, a
// limit, and the metadata before the answer.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/remote_taken.h"
#include "remote/tensors.h"

namespace wasinn::fuzz {
namespace {

std::vector<remote::AnsweredTensor> Read(const grpc::ByteBuffer& message) {
  return remote::ReadAnswer(message, remote::kMaxTensors);
}

void Check(Choices choices) {
  const size_t piece = size_t{1} + choices.Number();
  const auto most = choices.Number<uint16_t>();
  const std::string_view metadata = choices.Text(choices.Number<uint16_t>());
  const std::string_view answer = choices.Rest();
  std::optional<Signature> signature;
  std::string what, in_pieces;
  const wasinn_code code =
      CodeOf([&] { signature.emplace(remote::ReadMetadata(Message(metadata, metadata.size()))); }, &what);
  FUZZ_EXPECT(code ==
              CodeOf([&] { const Signature same(remote::ReadMetadata(Message(metadata, piece))); }, &in_pieces));
  FUZZ_EXPECT(what == in_pieces);
  if (!signature) return;
  const Taken whole(*signature, Message(answer, answer.size()), 0, Read);
  FUZZ_EXPECT(whole == Taken(*signature, Message(answer, piece), 0, Read));
  const Taken limited(*signature, Message(answer, piece), most, Read);  // which checks itself
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Check(wasinn::fuzz::Choices({data, size}));
  return 0;
}
