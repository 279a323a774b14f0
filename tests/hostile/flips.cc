#include "hostile/flips.h"

#include "backends/llama_writer.h"
#include "hostile/torch_archive.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

enum : uint32_t { kOpenVino = 0, kOnnx = 1, kTensorFlow = 2, kPyTorch = 3, kTensorFlowLite = 4, kGgml = 5 };

std::string Digits(const char* extension) {
  std::ifstream file(InSources("models/digits.") + extension, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Input Text(const std::string& text) {
  return {.dims = {static_cast<uint32_t>(text.size())}, .type = kU8, .bytes = text};
}

// As small as it goes, so that much of it is structure.
Flippable Gguf() {
  const test::GgufWriter writer =
      test::TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 64});
  size_t weights = 0;
  for (const auto& tensor : writer.tensors) weights = (weights + tensor.bytes.size() + 31) / 32 * 32;
  const std::string file = writer.Write();
  return {.name = "gguf",
          .encoding = kGgml,
          .sources = {file},
          .inputs = {Text("the \u00e9 \n 1"), Text(R"({"seed": 1, "n-predict": 4, "ctx-size": 32})")},
          .head = file.size() - weights};
}

// Its code and its object, in an archive whose checksums are right.
Flippable TorchScript() {
  const std::string code = TorchCode({"_0 = torch.relu(torch.add(x, 1.5))", "_1 = [torch.size(_0, 2), -1]",
                                      "for i in range(3):", "  _0 = torch.mul(_0, torch.sigmoid(_0))",
                                      "return torch.softmax(torch.reshape(_0, _1), 1)"});
  return {.name = "torchscript",
          .encoding = kPyTorch,
          .sources = {code, TorchObject()},
          .inputs = {Two()},
          .assemble = [](const std::vector<std::string>& sources) -> std::vector<std::string> {
            return {TorchArchive(sources[0], sources[1])};
          }};
}

}  // namespace

std::vector<Flippable> FlippableModels() {
  return {
      Gguf(),
      {.name = "tflite",
       .encoding = kTensorFlowLite,
       .sources = {Digits("tflite")},
       .inputs = {Two()},
       .head = 512,
       .tail = 3584},
      {.name = "onnx", .encoding = kOnnx, .sources = {Digits("onnx")}, .inputs = {Two()}, .head = 512, .tail = 1024},
      {.name = "openvino", .encoding = kOpenVino, .sources = {Digits("xml"), Digits("bin")}, .inputs = {Two()}},
      TorchScript(),
      {.name = "tensorflow", .encoding = kTensorFlow, .sources = {Digits("pb")}, .inputs = {Two()}, .tail = 4608}};
}

Brought Unchanged(const Flippable& model) {
  return {.encoding = model.encoding,
          .parts = model.assemble != nullptr ? model.assemble(model.sources) : model.sources,
          .inputs = model.inputs};
}

Brought Flip(const Flippable& model, uint64_t seed, uint64_t variant) {
  std::seed_seq numbers{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(variant)};
  std::mt19937_64 random(numbers);
  std::vector<std::string> sources = model.sources;
  constexpr size_t kBits[] = {1, 1, 1, 2, 4, 8};
  const size_t bits = kBits[random() % std::size(kBits)];
  for (size_t i = 0; i < bits; ++i) {
    const bool in_structure = random() % 4 != 0;
    std::string& source = in_structure ? sources.front() : sources[random() % sources.size()];
    size_t at = random() % source.size();
    if (const size_t structure = model.head + model.tail; in_structure && structure != 0) {
      at = random() % structure;
      if (at >= model.head) at += source.size() - structure;
    }
    source[at] = static_cast<char>(source[at] ^ 1 << random() % 8);
  }
  return Unchanged({.name = model.name,
                    .encoding = model.encoding,
                    .sources = std::move(sources),
                    .inputs = model.inputs,
                    .assemble = model.assemble});
}

}  // namespace wasinn::testing
