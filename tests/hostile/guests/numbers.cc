// Numbers of encodings and targets, known, unknown and not of these bytes; and numbers of builders.
#include "attack.h"

using namespace attack;

namespace {

uint32_t LoadAs(const std::vector<uint8_t>& model, uint32_t encoding, uint32_t target) {
  const uint32_t builder[] = {Address(model.data()), static_cast<uint32_t>(model.size())};
  uint32_t graph = 0;
  return Load(Address(builder), 1, encoding, target, Address(&graph));
}

uint32_t LoadParts(const std::vector<uint8_t>& model, uint32_t count) {
  std::vector<uint32_t> builders;
  for (uint32_t i = 0; i < 20; ++i) {
    builders.push_back(Address(model.data()));
    builders.push_back(static_cast<uint32_t>(model.size()));
  }
  uint32_t graph = 0;
  return Load(Address(builders.data()), count, WASI_NN_ENCODING_ONNX, WASI_NN_TARGET_CPU, Address(&graph));
}

std::vector<uint8_t> Bytes(const char* text) { return {text, text + std::strlen(text)}; }

}  // namespace

int main() {
  const Honest honest;
  const std::vector<uint8_t> onnx = ReadFile("/models/digits.onnx");
  for (const uint32_t encoding : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 255u, 0x80000000u, 0xffffffffu}) {
    Tell("onnx as encoding " + std::to_string(encoding), LoadAs(onnx, encoding, WASI_NN_TARGET_CPU));
  }
  for (const uint32_t target : {0u, 1u, 2u, 4u, 255u, 0x80000000u, 0xffffffffu}) {
    Tell("target " + std::to_string(target), LoadAs(onnx, WASI_NN_ENCODING_ONNX, target));
  }
  Tell("gguf as autodetect", LoadAs(Bytes("GGUF\3"), 5, 0));
  Tell("text as autodetect", LoadAs(Bytes("neither fish nor fowl"), 5, 0));
  Tell("text as onnx", LoadAs(Bytes("neither fish nor fowl"), 1, 0));
  Tell("nothing as autodetect", LoadAs({}, 5, 0));
  Tell("nothing as onnx", LoadAs({}, 1, 0));
  // A word that another runtime takes for a path of the host.
  Tell("preload: as onnx", LoadAs(Bytes("preload:/etc/passwd"), 1, 0));
  Tell("preload: as autodetect", LoadAs(Bytes("preload:/etc/passwd"), 5, 0));
  for (const uint32_t count : {0u, 2u, 16u, 17u, 0x20000000u, 0x20000001u, 0xffffffffu}) {
    Tell(std::to_string(count) + " builders", LoadParts(onnx, count));
  }
  honest.Infer();
}
