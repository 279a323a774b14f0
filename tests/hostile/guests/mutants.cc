// mutants KIND FILE: a good model, broken in many ways. Whatever becomes of each, it is an answer, and the host lives.
#include "attack.h"

using namespace attack;

namespace {

using Bytes = std::vector<uint8_t>;

// xorshift64*: the same mutants every time.
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

struct Tally {
  const char* kind;
  uint32_t tried = 0, loaded = 0, computed = 0, odd = 0;

  void Print() const {
    std::printf("%s: %u tried, %u with an answer that none may have\n", kind, static_cast<unsigned>(tried),
                static_cast<unsigned>(odd));
    // For a person to read: how many of them work is the framework's affair.
    std::fprintf(stderr, "%s: %u of %u load, %u compute\n", kind, static_cast<unsigned>(loaded),
                 static_cast<unsigned>(tried), static_cast<unsigned>(computed));
  }
};

// What a model that is broken in some way may answer; a wrong argument or name it is not.
bool IsAnswer(uint32_t error) {
  return error == WASI_NN_SUCCESS || error == WASI_NN_INVALID_ARGUMENT || error == WASI_NN_INVALID_ENCODING ||
         error == WASI_NN_RUNTIME_ERROR || error == WASI_NN_UNSUPPORTED_OPERATION || error == WASI_NN_TOO_LARGE;
}

void Try(const Bytes& model, Tally* tally) {
  uint32_t graph = 0, context = 0, written = 0;
  float output[10];
  ++tally->tried;
  const auto passed = [tally](uint32_t error) {
    if (!IsAnswer(error)) ++tally->odd;
    return error == WASI_NN_SUCCESS;
  };
  if (!passed(LoadBytes(model, &graph))) return;
  ++tally->loaded;
  if (!passed(InitContext(graph, Address(&context)))) return;
  passed(SetValues<float>(context, 0, {1, 1, 8, 8}, WASI_NN_F32, std::vector<float>(64)));
  if (!passed(Compute(context))) return;
  ++tally->computed;
  passed(GetOutput(context, 0, Address(output), sizeof(output), Address(&written)));
}

Tally Truncate(const Bytes& good) {
  Tally tally{"truncated"};
  const size_t step = good.size() / 150;
  for (size_t size = 0; size < good.size(); size += size < 100 ? 1 : step) {
    Try(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(size)), &tally);
  }
  for (size_t less = 1; less < 50; ++less) Try(Bytes(good.begin(), good.end() - static_cast<ptrdiff_t>(less)), &tally);
  return tally;
}

// Most of the file is weights; the graph lies before and after them.
Tally Flip(const Bytes& good) {
  Tally tally{"flipped"};
  Random random;
  const auto size = static_cast<uint32_t>(good.size());
  for (int i = 0; i < 500; ++i) {
    Bytes bad = good;
    const uint32_t at = i % 5 == 0   ? random.Below(size)
                        : i % 2 == 0 ? random.Below(1200)
                                     : size - 1 - random.Below(600);
    bad[at] ^= static_cast<uint8_t>(1u << random.Below(8));
    if (i % 3 == 0) bad[random.Below(size)] ^= 0x80;
    Try(bad, &tally);
  }
  return tally;
}

Tally Scramble(const Bytes& good) {
  Tally tally{"scrambled"};
  Random random;
  for (uint32_t i = 0; i < 200; ++i) {
    Bytes bad = i % 2 == 0 ? good : Bytes(random.Below(5000));
    const auto size = static_cast<uint32_t>(bad.size());
    const uint32_t changes = i % 2 == 0 ? 1 + random.Below(30) : size;
    for (uint32_t j = 0; j < changes && size > 0; ++j) {
      bad[i % 2 == 0 ? random.Below(size) : j] = static_cast<uint8_t>(random.Below(256));
    }
    Try(bad, &tally);
  }
  return tally;
}

}  // namespace

int main(int, char** argv) {
  const Honest honest;
  const Bytes good = ReadFile(argv[2]);
  const std::string kind = argv[1];
  (kind == "truncated" ? Truncate(good) : kind == "flipped" ? Flip(good) : Scramble(good)).Print();
  honest.Infer();
}
