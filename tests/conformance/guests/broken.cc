// Models that are broken in many ways, through the real framework: whatever becomes of each, it is an answer, and the
// good model works afterwards.
//
//   broken TYPE ENCODING FILE[,FILE] IMAGE
//
// IMAGE is a file of one tensor u8 or f32 [1,1,8,8]. Prints "WHAT: ERRNO" for models that can only be refused, how many
// others had an answer that none may have, and the good model's output in hex.

#include <unistd.h>
#include <cstdint>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "wasi_nn.h"
#include "wasi_nn_ext.h"

namespace {

using Bytes = std::vector<uint8_t>;
using Parts = std::vector<Bytes>;

constexpr uint32_t kTruncations = 20, kFlips = 40;

Bytes Read(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) std::exit(2);
  Bytes bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

// xorshift64*: the same models every time.
class Random {
 public:
  uint32_t Below(uint32_t limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>((state_ * 2685821657736338717ull) >> 32) % limit;
  }

 private:
  uint64_t state_ = 88172645463325252ull;
};

// What a broken model may answer; that it is not there, or that there is no memory, it may not.
bool IsAnswer(wasi_nn_errno error) {
  return error == WASI_NN_SUCCESS || error == WASI_NN_INVALID_ARGUMENT || error == WASI_NN_INVALID_ENCODING ||
         error == WASI_NN_RUNTIME_ERROR || error == WASI_NN_UNSUPPORTED_OPERATION || error == WASI_NN_TOO_LARGE;
}

class Guest {
 public:
  Guest(const char* type, const char* encoding, const Bytes& image)
      : type_(std::strcmp(type, "u8") == 0 ? WASI_NN_U8 : WASI_NN_F32),
        encoding_(static_cast<uint32_t>(std::atoi(encoding))),
        image_(image) {}

  wasi_nn_errno Load(const Parts& parts, wasi_nn_graph* graph) const {
    std::vector<wasi_nn_builder> builders;
    for (const Bytes& part : parts) builders.push_back({part.data(), static_cast<uint32_t>(part.size())});
    const auto count = static_cast<uint32_t>(builders.size());
    return wasi_nn_load(builders.data(), count, encoding_, WASI_NN_TARGET_CPU, graph);
  }

  // The first error, of whichever call.
  wasi_nn_errno Infer(wasi_nn_graph graph, Bytes* output) const {
    static constexpr uint32_t kDims[] = {1, 1, 8, 8};
    const wasi_nn_tensor tensor = {kDims, 4, type_, {}, image_.data(), static_cast<uint32_t>(image_.size())};
    wasi_nn_context context = 0;
    uint32_t written = 0;
    output->assign(4096, 0);
    wasi_nn_errno error = wasi_nn_init_execution_context(graph, &context);
    if (error != WASI_NN_SUCCESS) return error;
    error = wasi_nn_set_input(context, 0, &tensor);
    if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
    if (error == WASI_NN_SUCCESS) error = wasi_nn_get_output(context, 0, output->data(), 4096, &written);
    output->resize(written);
    const wasi_nn_errno finalized = wasi_nn_finalize_execution_context(context);
    return error != WASI_NN_SUCCESS ? error : finalized;
  }

  void Try(const Parts& parts) {
    wasi_nn_graph graph = 0;
    Bytes output;
    ++tried_;
    wasi_nn_errno error = Load(parts, &graph);
    if (!IsAnswer(error)) ++odd_;
    if (error != WASI_NN_SUCCESS) return;
    ++loaded_;
    error = Infer(graph, &output);
    if (!IsAnswer(error)) ++odd_;
    if (wasi_nn_unload(graph) != WASI_NN_SUCCESS) ++odd_;
  }

  void Refused(const char* what, const Parts& parts) const {
    wasi_nn_graph graph = 0;
    std::printf("%s: %u\n", what, static_cast<unsigned>(Load(parts, &graph)));
  }

  void Print() const {
    std::printf("%u tried, %u with an answer that none may have\n", static_cast<unsigned>(tried_),
                static_cast<unsigned>(odd_));
    // For a person to read: how many of them work is the framework's affair.
    std::fprintf(stderr, "%u of %u load\n", static_cast<unsigned>(loaded_), static_cast<unsigned>(tried_));
  }

 private:
  const wasi_nn_type type_;
  const wasi_nn_encoding encoding_;
  const Bytes image_;
  uint32_t tried_ = 0, loaded_ = 0, odd_ = 0;
};

Bytes Noise(Random* random, uint32_t size) {
  Bytes noise(size);
  for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random->Below(256));
  return noise;
}

void TryMutants(const Parts& good, Random* random, Guest* guest) {
  for (size_t part = 0; part < good.size(); ++part) {
    const auto size = static_cast<uint32_t>(good[part].size());
    for (uint32_t i = 0; i < kTruncations; ++i) {
      Parts bad = good;
      bad[part].resize(i < 10 ? size - 1 - i : random->Below(size));
      guest->Try(bad);
    }
    for (uint32_t i = 0; i < kFlips; ++i) {
      Parts bad = good;
      // Formats have what matters at their beginning or their end.
      const uint32_t near = 1 + random->Below(2000 < size ? 2000 : size);
      const uint32_t at = i % 3 == 0 ? random->Below(size) : i % 3 == 1 ? near - 1 : size - near;
      bad[part][at] ^= static_cast<uint8_t>(1u << random->Below(8));
      guest->Try(bad);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Parts good;
  std::string files = argv[3];
  good.push_back(Read(files.substr(0, files.find(','))));
  if (files.find(',') != std::string::npos) good.push_back(Read(files.substr(files.find(',') + 1)));
  Guest guest(argv[1], argv[2], Read(argv[4]));
  Random random;

  Parts bad = good;
  bad[0].clear();
  guest.Refused("nothing", bad);
  bad[0] = Noise(&random, 1000);
  guest.Refused("noise", bad);
  const char text[] = "This is no model at all.";
  bad[0].assign(text, text + sizeof(text));
  guest.Refused("text", bad);
  bad[0].assign(good[0].begin(), good[0].begin() + static_cast<ptrdiff_t>(good[0].size() / 2));
  guest.Refused("half of it", bad);
  guest.Refused("a part too many", {good[0], good.back(), good.back()});

  TryMutants(good, &random, &guest);
  guest.Print();

  wasi_nn_graph graph = 0;
  Bytes output;
  // A guest that has lost workers in a row gets the next one a little later. On a busy machine the deadline, which is
  // for broken models, may be too short for the good one.
  wasi_nn_errno error = WASI_NN_RUNTIME_ERROR;
  for (int tries = 0; error == WASI_NN_RUNTIME_ERROR && tries < 1000; ++tries) {
    if (tries > 0) usleep(50'000);
    error = guest.Load(good, &graph);
    if (error == WASI_NN_SUCCESS) error = guest.Infer(graph, &output);
  }
  if (error != WASI_NN_SUCCESS) return 1;
  for (const uint8_t byte : output) std::printf("%02x", byte);
  std::printf("\n");
}
