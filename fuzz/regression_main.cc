// Runs a fuzzer without libFuzzer: NAME_fuzz_regression RUNS FOLDER gives it each file of FOLDER, then RUNS inputs made
// from those by a pseudo-random generator with a fixed seed. The same inputs on every machine.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> ReadFolder(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Bytes> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Not std::uniform_int_distribution, which differs between libraries.
class Random {
 public:
  size_t Below(size_t limit) { return limit == 0 ? 0 : generator_() % limit; }
  uint8_t Byte() { return static_cast<uint8_t>(generator_()); }

 private:
  std::mt19937_64 generator_{20241028};
};

Bytes Noise(Random& random) {
  Bytes bytes(random.Below(512));
  for (uint8_t& byte : bytes) byte = random.Byte();
  return bytes;
}

void MutateOnce(Random& random, const std::vector<Bytes>& seeds, Bytes& input) {
  const size_t at = random.Below(input.size() + 1);
  const auto position = input.begin() + static_cast<ptrdiff_t>(at);
  switch (random.Below(5)) {
    case 0:  // flip a bit
      if (position != input.end()) *position ^= static_cast<uint8_t>(1u << random.Below(8));
      break;
    case 1:  // another byte, often an extreme one
      if (position != input.end()) *position = random.Below(2) == 0 ? random.Byte() : random.Below(2) == 0 ? 0xff : 0;
      break;
    case 2:
      input.insert(position, random.Byte());
      break;
    case 3:  // cut a piece out
      input.erase(position, position + static_cast<ptrdiff_t>(random.Below(input.size() - at + 1)));
      break;
    default: {  // continue as another seed does
      if (seeds.empty()) break;
      const Bytes& other = seeds[random.Below(seeds.size())];
      const size_t from = random.Below(other.size() + 1);
      input.erase(position, input.end());
      input.insert(input.end(), other.begin() + static_cast<ptrdiff_t>(from), other.end());
    }
  }
}

Bytes NextInput(Random& random, const std::vector<Bytes>& seeds) {
  if (seeds.empty() || random.Below(4) == 0) return Noise(random);
  Bytes input = seeds[random.Below(seeds.size())];
  for (size_t i = 0, n = 1 + random.Below(16); i < n; ++i) MutateOnce(random, seeds, input);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s RUNS FOLDER\n", argv[0]), 2;
  const std::vector<Bytes> seeds = ReadFolder(argv[2]);
  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  Random random;
  const long runs = std::atol(argv[1]);
  for (long i = 0; i < runs; ++i) {
    const Bytes input = NextInput(random, seeds);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds and %ld pseudo-random inputs\n", seeds.size(), runs);
  return 0;
}
