// A guest that runs the ONNX project's tests of single operators.
//
//   node_runner.wasm [--by-name] CASES OUT CASE...
//
// Reads CASES/CASE/model.onnx and test_data_set_0/input_*.pb, computes, and writes each output's bytes to
// OUT/CASE.INDEX. Prints a line for each case: "CASE ok OUTPUTS", or "CASE failed AT ERROR". With --by-name the model
// is one that the host offers as CASE.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "proto_reader.h"
#include "wasi_nn.hpp"

namespace {

using wasinn::testing::OnnxTensor;

struct Options {
  bool by_name = false;
  std::string cases, out;
};

// What went wrong, where; empty if nothing.
using Problem = std::string;

Problem At(const std::string& call, wasi_nn::Status status) { return call + " " + std::string(status.name()); }

bool ReadFile(const std::string& path, std::vector<uint8_t>* bytes) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  bytes->clear();
  uint8_t block[16384];
  for (size_t got = sizeof(block); got == sizeof(block);) {
    got = std::fread(block, 1, sizeof(block), file);
    bytes->insert(bytes->end(), block, block + got);
  }
  const bool good = std::ferror(file) == 0;
  std::fclose(file);
  return good;
}

bool WriteFile(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written;
}

// How a tensor travels: its type in wasi-nn's numbers, and whether its last dimension counts bytes, two to an element.
bool Translate(int32_t type, wasi_nn_type* out, bool* doubled) {
  using enum wasinn::testing::OnnxType;
  *doubled = type == kOnnxInt16 || type == kOnnxUint16 || type == kOnnxBfloat16;
  switch (type) {
    case kOnnxFloat16:
      *out = WASI_NN_F16;
      return true;
    case kOnnxFloat:
      *out = WASI_NN_F32;
      return true;
    case kOnnxDouble:
      *out = WASI_NN_F64;
      return true;
    case kOnnxInt32:
    case kOnnxUint32:
      *out = WASI_NN_I32;
      return true;
    case kOnnxInt64:
    case kOnnxUint64:
      *out = WASI_NN_I64;
      return true;
    default:
      *out = WASI_NN_U8;
      return *doubled || type == kOnnxUint8 || type == kOnnxInt8 || type == kOnnxBool ||
             (type >= kOnnxFirstFloat8 && type <= kOnnxLastFloat8);
  }
}

wasi_nn::Status SetInput(wasi_nn_context context, uint32_t index, const OnnxTensor& tensor) {
  std::vector<uint32_t> dims(tensor.dims.begin(), tensor.dims.end());
  wasi_nn_type type = 0;
  bool doubled = false;
  if (!Translate(tensor.type, &type, &doubled)) return WASI_NN_UNSUPPORTED_OPERATION;
  if (doubled && dims.empty()) dims.push_back(1);  // [1] is a scalar too
  if (doubled) dims.back() *= 2;
  const wasi_nn_tensor given = {dims.data(),         static_cast<uint32_t>(dims.size()),        type, {},
                                tensor.bytes.data(), static_cast<uint32_t>(tensor.bytes.size())};
  return wasi_nn_set_input(context, index, &given);
}

Problem SetInputs(const std::string& folder, const wasi_nn::Context& context) {
  std::vector<uint8_t> file;
  for (uint32_t i = 0; ReadFile(folder + "/test_data_set_0/input_" + std::to_string(i) + ".pb", &file); ++i) {
    const std::string call = "set_input " + std::to_string(i);
    OnnxTensor tensor;
    if (!ReadTensorProto(file, &tensor)) return call + ": the tensor cannot be read";
    if (wasi_nn::Status s = SetInput(context.handle(), i, tensor); !s) return At(call, s);
  }
  return "";
}

// All there are: the first index that the model does not have is an invalid argument.
Problem WriteOutputs(const std::string& prefix, wasi_nn::Context* context, uint32_t* count) {
  std::vector<uint8_t> bytes;
  for (*count = 0;; ++*count) {
    const wasi_nn::Status s = context->get_output(*count, bytes);
    if (s.code() == WASI_NN_INVALID_ARGUMENT) return "";
    if (!s) return At("get_output " + std::to_string(*count), s);
    if (!WriteFile(prefix + std::to_string(*count), bytes)) return "write";
  }
}

Problem RunCase(const Options& options, const std::string& name, uint32_t* outputs) {
  const std::string folder = options.cases + "/" + name;
  wasi_nn::Graph graph;
  if (options.by_name) {
    if (wasi_nn::Status s = graph.load_by_name(name); !s) return At("load_by_name", s);
  } else {
    std::vector<uint8_t> model;
    if (!ReadFile(folder + "/model.onnx", &model)) return "read";
    if (wasi_nn::Status s = graph.load(model, WASI_NN_ENCODING_ONNX); !s) return At("load", s);
  }
  wasi_nn::Context context;
  if (wasi_nn::Status s = context.init(graph); !s) return At("init_execution_context", s);
  if (Problem problem = SetInputs(folder, context); !problem.empty()) return problem;
  if (wasi_nn::Status s = context.compute(); !s) return At("compute", s);
  return WriteOutputs(options.out + "/" + name + ".", &context, outputs);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int at = 1;
  if (at < argc && std::string_view(argv[at]) == "--by-name") options.by_name = ++at;
  if (argc - at < 2) return 2;
  options.cases = argv[at++];
  options.out = argv[at++];
  for (; at < argc; ++at) {
    uint32_t outputs = 0;
    const Problem problem = RunCase(options, argv[at], &outputs);
    if (problem.empty()) {
      std::printf("%s ok %u\n", argv[at], static_cast<unsigned>(outputs));
    } else {
      std::printf("%s failed %s\n", argv[at], problem.c_str());
    }
    std::fflush(stdout);  // whatever the next case does
  }
  return 0;
}
