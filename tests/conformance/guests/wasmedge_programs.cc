// What WasmEdge's own test programs do, in one: classify images, set an input twice, release what was loaded, ask for
// what is not there.
//
//   wasmedge_programs TYPE ENCODING FILE[,FILE] IMAGES CONFIG
//
// IMAGES is a file of two tensors u8 or f32 [1,1,8,8]. CONFIG is for load_by_name_with_config of the model "digits".
// Prints a line for each call that tells something: "WHAT: ERRNO", or the bytes of an output in hex.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "wasi_nn.h"
#include "wasi_nn_ext.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes Read(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) std::exit(2);
  Bytes bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

void Tell(const char* what, wasi_nn_errno error) { std::printf("%s: %u\n", what, static_cast<unsigned>(error)); }

class Program {
 public:
  explicit Program(char** argv)
      : type_(std::strcmp(argv[1], "u8") == 0 ? WASI_NN_U8 : WASI_NN_F32),
        encoding_(static_cast<uint32_t>(std::atoi(argv[2]))),
        images_(Read(argv[4])) {
    const std::string files = argv[3];
    const size_t comma = files.find(',');
    parts_.push_back(Read(files.substr(0, comma)));
    if (comma != std::string::npos) parts_.push_back(Read(files.substr(comma + 1)));
  }

  wasi_nn_errno Load(wasi_nn_graph* graph) const {
    std::vector<wasi_nn_builder> builders;
    builders.reserve(parts_.size());
    for (const Bytes& part : parts_) builders.push_back({part.data(), static_cast<uint32_t>(part.size())});
    const auto count = static_cast<uint32_t>(builders.size());
    return wasi_nn_load(builders.data(), count, encoding_, WASI_NN_TARGET_CPU, graph);
  }

  wasi_nn_errno Set(wasi_nn_context context, size_t image) const {
    const auto size = static_cast<uint32_t>(images_.size() / 2);
    const wasi_nn_tensor tensor = {kDims, 4, type_, {}, images_.data() + image * size, size};
    return wasi_nn_set_input(context, 0, &tensor);
  }

  wasi_nn_errno Print(wasi_nn_context context) const {
    uint8_t output[64];
    uint32_t written = 0;
    const wasi_nn_errno error = wasi_nn_get_output(context, 0, output, sizeof(output), &written);
    if (error != WASI_NN_SUCCESS) return error;
    for (uint32_t i = 0; i < written; ++i) std::printf("%02x", output[i]);
    std::printf("\n");
    return error;
  }

 private:
  static constexpr uint32_t kDims[] = {1, 1, 8, 8};

  const wasi_nn_type type_;
  const wasi_nn_encoding encoding_;
  const Bytes images_;
  std::vector<Bytes> parts_;
};

wasi_nn_context Classify(const Program& program, wasi_nn_graph graph) {
  wasi_nn_context context = 0;
  Tell("init_execution_context", wasi_nn_init_execution_context(graph, &context));
  Tell("set_input", program.Set(context, 0));
  Tell("compute", wasi_nn_compute(context));
  Tell("get_output", program.Print(context));
  return context;
}

void SetInputTwice(const Program& program, wasi_nn_context context) {
  Tell("set_input", program.Set(context, 0));
  Tell("set_input again", program.Set(context, 1));
  Tell("compute", wasi_nn_compute(context));
  Tell("get_output", program.Print(context));
}

void Unload(const Program& program, wasi_nn_graph graph, wasi_nn_context context) {
  wasi_nn_context other = 0;
  Tell("unload", wasi_nn_unload(graph));
  Tell("unload again", wasi_nn_unload(graph));
  Tell("init_execution_context after unload", wasi_nn_init_execution_context(graph, &other));
  Tell("compute after unload", wasi_nn_compute(context));
  Tell("get_output after unload", program.Print(context));
}

void Finalize(const Program& program, wasi_nn_context context) {
  Tell("finalize_execution_context", wasi_nn_finalize_execution_context(context));
  Tell("finalize_execution_context again", wasi_nn_finalize_execution_context(context));
  Tell("set_input after finalize", program.Set(context, 0));
  Tell("compute after finalize", wasi_nn_compute(context));
  Tell("get_output after finalize", program.Print(context));
}

void Names(const Program& program, const std::string& config) {
  wasi_nn_graph graph = 0;
  const auto with = [&graph](const char* name, const std::string& json) {
    return wasi_nn_load_by_name_with_config(name, static_cast<uint32_t>(std::strlen(name)), json.data(),
                                            static_cast<uint32_t>(json.size()), &graph);
  };
  Tell("load_by_name of no model", wasi_nn_load_by_name("nothing", 7, &graph));
  Tell("load_by_name_with_config of no model", with("nothing", config));
  Tell("load_by_name_with_config of no configuration", with("digits", "{"));
  Tell("load_by_name_with_config of an unknown key", with("digits", R"({"no-such-key":1})"));
  Tell("load_by_name_with_config", with("digits", config));
  Classify(program, graph);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Program program(argv);
  wasi_nn_graph graph = 0;
  Tell("load", program.Load(&graph));
  const wasi_nn_context context = Classify(program, graph);
  SetInputTwice(program, context);
  Unload(program, graph, context);
  Finalize(program, context);
  Names(program, argv[5]);
}
