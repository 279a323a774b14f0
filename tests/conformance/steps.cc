// A guest that makes the wasi-nn calls of a script, for tests that look at single calls.
//
//   steps.wasm SCRIPT
//
// A line of the script is one step; it is answered by one line "ERRNO NANOSECONDS BYTES", BYTES in hex or "-" for none.
//
//   load GRAPH FILE [ENCODING [TARGET]]  the bytes of a file, 1 (ONNX) by default, and 0 (CPU)
//   name GRAPH NAME                    load_by_name
//   context CONTEXT GRAPH
//   set CONTEXT INDEX TYPE DIMS BYTES  TYPE as wasi-nn numbers it; DIMS as 2,3 or "-" for a scalar
//   compute CONTEXT
//   get CONTEXT INDEX [ROOM]           gives the output; or, if it is larger than ROOM bytes, its size as 4 bytes
//   finalize CONTEXT
//   single CONTEXT                     compute_single
//   piece CONTEXT INDEX [ROOM]         get_output_single
//   fini CONTEXT                       fini_single
//   describe GRAPH                     gives the text
//   setfile CONTEXT INDEX TYPE DIMS FILE  the bytes are those of a file
//   getfile CONTEXT INDEX FILE         the output is written behind what the file has
//
// GRAPH and CONTEXT are numbers that the script chooses.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "wasi_nn.h"
#include "wasi_nn_ext.h"

namespace {

using Bytes = std::vector<uint8_t>;

constexpr wasi_nn_errno kNoSuchFile = 200, kNoSuchStep = 201;  // none of wasi-nn's

std::map<int, wasi_nn_graph> graphs;
std::map<int, wasi_nn_context> contexts;

uint8_t Nibble(char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

Bytes FromHex(const std::string& text) {
  Bytes bytes;
  if (text == "-") return bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(Nibble(text[i]) << 4 | Nibble(text[i + 1])));
  }
  return bytes;
}

std::string ToHex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (bytes.empty()) return "-";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// The guest's C++ library has no file streams.
bool ReadFile(const char* path, Bytes* bytes) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  uint8_t block[16384];
  for (size_t got = sizeof(block); got == sizeof(block);) {
    got = std::fread(block, 1, sizeof(block), file);
    bytes->insert(bytes->end(), block, block + got);
  }
  const bool good = std::ferror(file) == 0;
  std::fclose(file);
  return good;
}

wasi_nn_errno Load(std::istream& step) {
  int graph = 0;
  std::string path;
  wasi_nn_encoding encoding = WASI_NN_ENCODING_ONNX;
  wasi_nn_target target = WASI_NN_TARGET_CPU;
  step >> graph >> path;
  if (!step.eof()) step >> encoding;
  if (!step.eof()) step >> target;
  Bytes bytes;
  if (!ReadFile(path.c_str(), &bytes)) return kNoSuchFile;
  const wasi_nn_builder builder = {bytes.data(), static_cast<uint32_t>(bytes.size())};
  return wasi_nn_load(&builder, 1, encoding, target, &graphs[graph]);
}

wasi_nn_errno Name(std::istream& step) {
  int graph = 0;
  std::string name;
  step >> graph >> name;
  return wasi_nn_load_by_name(name.data(), static_cast<uint32_t>(name.size()), &graphs[graph]);
}

wasi_nn_errno NewContext(std::istream& step) {
  int context = 0, graph = 0;
  step >> context >> graph;
  return wasi_nn_init_execution_context(graphs[graph], &contexts[context]);
}

// "TYPE DIMS BYTES", or what `read` makes of the last word, as a tensor for `use`.
template <typename Use, typename Read>
wasi_nn_errno WithTensor(std::istream& step, Use use, Read read) {
  int type = 0;
  std::string dims_text, word;
  step >> type >> dims_text >> word;
  std::vector<uint32_t> dims;
  std::istringstream dims_stream(dims_text == "-" ? "" : dims_text);
  for (std::string dim; std::getline(dims_stream, dim, ',');) {
    dims.push_back(static_cast<uint32_t>(std::strtoul(dim.c_str(), nullptr, 10)));
  }
  const auto& bytes = read(word);
  const wasi_nn_tensor tensor = {dims.data(),  static_cast<uint32_t>(dims.size()), static_cast<wasi_nn_type>(type), {},
                                 bytes.data(), static_cast<uint32_t>(bytes.size())};
  return use(&tensor);
}

wasi_nn_errno Set(std::istream& step) {
  int context = 0;
  uint32_t index = 0;
  step >> context >> index;
  const auto set = [&](const wasi_nn_tensor* tensor) { return wasi_nn_set_input(contexts[context], index, tensor); };
  return WithTensor(step, set, FromHex);
}

wasi_nn_errno SetFile(std::istream& step) {
  int context = 0;
  uint32_t index = 0;
  step >> context >> index;
  bool read = false;
  const auto set = [&](const wasi_nn_tensor* tensor) {
    return read ? wasi_nn_set_input(contexts[context], index, tensor) : kNoSuchFile;
  };
  return WithTensor(step, set, [&](const std::string& path) {
    Bytes bytes;
    read = ReadFile(path.c_str(), &bytes);
    return bytes;
  });
}

wasi_nn_errno GetFile(std::istream& step) {
  int context = 0;
  uint32_t index = 0, size = 0;
  std::string path;
  step >> context >> index >> path;
  wasi_nn_errno error = wasi_nn_get_output(contexts[context], index, nullptr, 0, &size);
  Bytes bytes(size);
  if (error == WASI_NN_TOO_LARGE) error = wasi_nn_get_output(contexts[context], index, bytes.data(), size, &size);
  if (error != WASI_NN_SUCCESS) return error;
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return kNoSuchFile;
  const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), file);
  return std::fclose(file) == 0 && written == bytes.size() ? WASI_NN_SUCCESS : kNoSuchFile;
}

wasi_nn_errno Compute(std::istream& step) {
  int context = 0;
  step >> context;
  return wasi_nn_compute(contexts[context]);
}

// A buffer for `fill`, which returns as get_output does.
template <typename Fill>
wasi_nn_errno WithBuffer(std::istream& step, Bytes* out, Fill fill) {
  uint32_t room = 1 << 20, written = 0;
  if (!(step >> room)) room = 1 << 20;
  out->assign(room, 0xaa);
  const wasi_nn_errno error = fill(out->data(), room, &written);
  if (error == WASI_NN_TOO_LARGE) {
    out->resize(sizeof(written));
    std::memcpy(out->data(), &written, sizeof(written));
  } else {
    out->resize(error == WASI_NN_SUCCESS ? written : 0);
  }
  return error;
}

// `get`: wasi_nn_get_output or wasi_nn_get_output_single.
template <typename Function>
wasi_nn_errno Get(std::istream& step, Bytes* out, Function get) {
  int context = 0;
  uint32_t index = 0;
  step >> context >> index;
  return WithBuffer(step, out, [&](uint8_t* data, uint32_t room, uint32_t* written) {
    return get(contexts[context], index, data, room, written);
  });
}

wasi_nn_errno Extension(const std::string& word, std::istream& step, Bytes* out) {
  if (word == "piece") return Get(step, out, wasi_nn_get_output_single);
  int handle = 0;
  step >> handle;
  if (word == "finalize") return wasi_nn_finalize_execution_context(contexts[handle]);
  if (word == "single") return wasi_nn_compute_single(contexts[handle]);
  if (word == "fini") return wasi_nn_fini_single(contexts[handle]);
  if (word != "describe") return kNoSuchStep;
  return WithBuffer(step, out, [&](uint8_t* data, uint32_t room, uint32_t* written) {
    return wasinn_describe(graphs[handle], reinterpret_cast<char*>(data), room, written);
  });
}

wasi_nn_errno Do(const std::string& line, Bytes* out) {
  std::istringstream step(line);
  std::string word;
  step >> word;
  if (word == "load") return Load(step);
  if (word == "name") return Name(step);
  if (word == "context") return NewContext(step);
  if (word == "set") return Set(step);
  if (word == "compute") return Compute(step);
  if (word == "get") return Get(step, out, wasi_nn_get_output);
  if (word == "setfile") return SetFile(step);
  if (word == "getfile") return GetFile(step);
  const wasi_nn_errno error = Extension(word, step, out);
  if (error != kNoSuchStep) return error;
  std::fprintf(stderr, "steps: no such step: %s\n", line.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Bytes text;
  if (!ReadFile(argv[1], &text)) return 2;
  std::istringstream script(std::string(text.begin(), text.end()));
  for (std::string line; std::getline(script, line);) {
    Bytes out;
    const auto begin = std::chrono::steady_clock::now();
    const wasi_nn_errno error = Do(line, &out);
    const auto time = std::chrono::steady_clock::now() - begin;
    std::printf("%u %lld %s\n", static_cast<unsigned>(error),
                static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()),
                ToHex(out).c_str());
  }
  return 0;
}
