#include "attack.h"

#include <wasi_nn_ext.h>

#include <algorithm>
#include <cstdlib>

namespace attack {
namespace {

// A two, from the digits data set (see tests/models/README.md): gray values of 0 to 16.
constexpr uint8_t kTwo[64] = {
    0, 0, 0, 4,  15, 12, 0, 0, 0, 0, 3,  16, 15, 14, 0, 0, 0, 0, 8,  13, 8,  16, 0, 0, 0, 0, 1, 6, 15, 11, 0, 0,
    0, 1, 8, 13, 15, 1,  0, 0, 0, 9, 16, 16, 5,  0,  0, 0, 0, 3, 13, 16, 16, 11, 5, 0, 0, 0, 0, 3, 11, 16, 9, 0,
};

void Check(const char* what, uint32_t error) {
  if (error == WASI_NN_SUCCESS) return;
  std::printf("%s failed: %s\n", what, Name(error));
  std::exit(70);
}

bool WasLate() {
  char message[2048];
  uint32_t written = 0;
  if (wasinn_last_error(message, sizeof(message), &written) != WASI_NN_SUCCESS) return false;
  return std::string(message, written).find(": timeout: ") != std::string::npos;
}

// A short deadline is for the model that the guest attacks with; on a busy machine a good compute may miss it, too.
uint32_t ComputeInTime(uint32_t context) {
  uint32_t error = Compute(context);
  for (int tries = 0; error == WASI_NN_RUNTIME_ERROR && WasLate() && tries < 100; ++tries) error = Compute(context);
  return error;
}

}  // namespace

std::vector<uint8_t> ReadFile(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) {
    std::printf("cannot open %s\n", path);
    std::exit(71);
  }
  std::vector<uint8_t> bytes;
  uint8_t buffer[4096];
  for (size_t got = sizeof(buffer); got == sizeof(buffer);) {
    got = std::fread(buffer, 1, sizeof(buffer), file);
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
  std::fclose(file);
  return bytes;
}

uint32_t LoadBytes(const std::vector<uint8_t>& model, uint32_t* graph, uint32_t encoding) {
  const uint32_t builder[] = {Address(model.data()), static_cast<uint32_t>(model.size())};
  return Load(Address(builder), 1, encoding, WASI_NN_TARGET_CPU, Address(graph));
}

uint32_t LoadNamed(const std::string& name, uint32_t* graph) {
  return LoadByName(Address(name.data()), static_cast<uint32_t>(name.size()), Address(graph));
}

uint32_t NewContext(const std::string& name) {
  uint32_t graph = 0, context = 0;
  Check(("loading " + name).c_str(), LoadNamed(name, &graph));
  Check(("making a context of " + name).c_str(), InitContext(graph, Address(&context)));
  return context;
}

Honest::Honest() : context_(NewContext("digits")) {}

void Honest::Infer(const char* what) const {
  std::vector<float> image(64);
  std::transform(std::begin(kTwo), std::end(kTwo), image.begin(),
                 [](uint8_t gray) { return static_cast<float>(gray) / 16.f; });
  Check("honest set_input", SetValues(context_, 0, {1, 1, 8, 8}, WASI_NN_F32, image));
  Check("honest compute", ComputeInTime(context_));
  float probabilities[10] = {};
  uint32_t written = 0;
  Check("honest get_output", GetOutput(context_, 0, Address(probabilities), sizeof(probabilities), Address(&written)));
  const auto best = std::max_element(probabilities, probabilities + 10) - probabilities;
  const bool sure = written == sizeof(probabilities) && probabilities[best] > 0.9f && probabilities[best] <= 1;
  std::printf("%s: %s %d\n", what, sure ? "a" : "unsure, perhaps a", static_cast<int>(best));
  std::fflush(stdout);
}

}  // namespace attack
