// quotas KIND [MODEL N]: asks for 2,000 of something; for N contexts of MODEL, a file.
#include "attack.h"

using namespace attack;

namespace {

int many = 2000;

// Counts what each call answered: "64 success, 9936 too_large".
class Tally {
 public:
  void Add(uint32_t error) { ++counts_[error < 16 ? error : 15]; }
  void Print(const char* what) const {
    std::printf("%s:", what);
    for (uint32_t error = 0; error < 16; ++error) {
      if (counts_[error] > 0) std::printf(" %d %s", counts_[error], Name(error));
    }
    std::printf("\n");
  }

 private:
  int counts_[16] = {};
};

template <typename F>
void Repeat(const char* what, F&& call) {
  Tally tally;
  for (int i = 0; i < many; ++i) tally.Add(call());
  tally.Print(what);
}

}  // namespace

int main(int argc, char** argv) {
  const Honest honest;
  const std::string kind = argv[1];
  const std::vector<uint8_t> model = ReadFile("/models/digits.onnx");
  uint32_t graph = 0, context = 0;
  if (kind == "graphs") Repeat("graphs", [&] { return LoadBytes(model, &graph); });
  if (kind == "contexts") {
    if (argc > 3) many = std::atoi(argv[3]);
    Tell("load", argc > 2 ? LoadBytes(ReadFile(argv[2]), &graph) : LoadNamed("digits", &graph));
    Repeat("contexts", [&] { return InitContext(graph, Address(&context)); });
  }
  if (kind == "failures") {
    // Calls that fail take nothing: after thousands of failures there is room for all that is allowed.
    const std::vector<uint8_t> broken(model.begin(), model.begin() + 1000);
    Repeat("broken models", [&] { return LoadBytes(broken, &graph); });
    Repeat("unknown names", [&] { return LoadNamed("nothing", &graph); });
    Repeat("dead graphs", [&] { return InitContext(0x20001234, Address(&context)); });
    Repeat("graphs", [&] { return LoadNamed("digits", &graph); });
  }
  honest.Infer();
}
