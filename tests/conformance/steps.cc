// A guest that makes the wasi-nn calls of a script, for tests that look at single calls. It speaks the form of wasi-nn
// that it is linked with (guests/steps.h).
//
//   steps.wasm SCRIPT
//
// A line of the script is one step; it is answered by one line "ERRNO NANOSECONDS BYTES", BYTES in hex or "-" for none.
//
//   load GRAPH FILE[,FILE] [ENCODING [TARGET]]  the bytes of files, 1 (ONNX) by default, and 0 (CPU); "-" is no file
//   name GRAPH [NAME]                  load_by_name
//   context CONTEXT GRAPH
//   set CONTEXT INPUT TYPE DIMS BYTES  INPUT as the form calls it; TYPE as it numbers it; DIMS as 2,3 or "-" for a scalar
//   compute CONTEXT
//   get CONTEXT OUTPUT [ROOM]          gives the output; or, if it is larger than ROOM bytes, its size as 4 bytes
//   setfile CONTEXT INPUT TYPE DIMS FILE  the bytes are those of a file
//   getfile CONTEXT OUTPUT FILE        the output is written behind what the file has
//   forge-graph GRAPH NUMBER, forge-context CONTEXT NUMBER  a handle that no call gave
//
// Of wasi_ephemeral_nn's extensions:
//
//   finalize CONTEXT
//   single CONTEXT                     compute_single
//   piece CONTEXT INDEX [ROOM]         get_output_single
//   fini CONTEXT                       fini_single
//   describe GRAPH                     gives the text
//
// Of components: see guests/steps_component.cc.
//
// GRAPH and CONTEXT are numbers that the script chooses.

#include "guests/steps.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace steps {
namespace {

std::map<int, uint32_t> graphs, contexts;

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

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text == "-" ? "" : text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

uint32_t LoadStep(std::istream& step) {
  int graph = 0;
  std::string paths;
  uint32_t encoding = 1, target = 0;
  step >> graph >> paths;
  if (!step.eof()) step >> encoding;
  if (!step.eof()) step >> target;
  std::vector<Bytes> parts;
  for (const std::string& path : Split(paths)) {
    if (!ReadFile(path.c_str(), &parts.emplace_back())) return kNoSuchFile;
  }
  return Load(parts, encoding, target, &graphs[graph]);
}

uint32_t NameStep(std::istream& step) {
  int graph = 0;
  std::string name;
  step >> graph >> name;
  return LoadByName(name, &graphs[graph]);
}

uint32_t ContextStep(std::istream& step) {
  int context = 0, graph = 0;
  step >> context >> graph;
  return InitContext(graphs[graph], &contexts[context]);
}

// "TYPE DIMS" and the word behind them.
Tensor ReadShape(std::istream& step, std::string* word) {
  Tensor tensor;
  std::string dims;
  step >> tensor.type >> dims >> *word;
  for (const std::string& dim : Split(dims)) {
    tensor.dims.push_back(static_cast<uint32_t>(std::strtoul(dim.c_str(), nullptr, 10)));
  }
  return tensor;
}

uint32_t SetStep(std::istream& step, bool from_file) {
  int context = 0;
  std::string input, path;
  step >> context >> input;
  if (!from_file) return Set(contexts[context], input, ReadTensor(step));
  Tensor tensor = ReadShape(step, &path);
  return ReadFile(path.c_str(), &tensor.bytes) ? Set(contexts[context], input, tensor) : kNoSuchFile;
}

uint32_t GetFileStep(std::istream& step) {
  int context = 0;
  uint32_t size = 0;
  std::string output, path;
  step >> context >> output >> path;
  uint32_t error = Get(contexts[context], output, nullptr, 0, &size);
  Bytes bytes(size);
  if (error == kTooLarge) error = Get(contexts[context], output, bytes.data(), size, &size);
  if (error != 0) return error;
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return kNoSuchFile;
  const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), file);
  return std::fclose(file) == 0 && written == bytes.size() ? 0 : kNoSuchFile;
}

uint32_t GetStep(std::istream& step, Bytes* out) {
  int context = 0;
  std::string output;
  step >> context >> output;
  return WithBuffer(step, out, [&](uint8_t* buffer, uint32_t room, uint32_t* written) {
    return Get(contexts[context], output, buffer, room, written);
  });
}

uint32_t ForgeStep(std::istream& step, std::map<int, uint32_t>& handles) {
  int handle = 0;
  step >> handle;
  step >> handles[handle];
  return 0;
}

uint32_t MoreStep(const std::string& word, std::istream& step, Bytes* out) {
  const bool of_graph = word == "describe" || word == "drop-graph";
  int handle = 0;
  if (word != "tensor" && word != "dropped-tensor") step >> handle;
  return More(word, of_graph ? graphs[handle] : contexts[handle], step, out);
}

uint32_t Do(const std::string& line, Bytes* out) {
  std::istringstream step(line);
  std::string word;
  step >> word;
  if (word == "load") return LoadStep(step);
  if (word == "name") return NameStep(step);
  if (word == "context") return ContextStep(step);
  if (word == "set" || word == "setfile") return SetStep(step, word == "setfile");
  if (word == "get") return GetStep(step, out);
  if (word == "getfile") return GetFileStep(step);
  if (word == "forge-graph") return ForgeStep(step, graphs);
  if (word == "forge-context") return ForgeStep(step, contexts);
  if (word == "compute") {
    int context = 0;
    step >> context;
    return Compute(contexts[context]);
  }
  const uint32_t error = MoreStep(word, step, out);
  if (error != kNoSuchStep) return error;
  std::fprintf(stderr, "steps: no such step: %s\n", line.c_str());
  std::exit(2);
}

}  // namespace

Tensor ReadTensor(std::istream& step) {
  std::string hex;
  Tensor tensor = ReadShape(step, &hex);
  tensor.bytes = FromHex(hex);
  return tensor;
}

uint32_t WithBuffer(std::istream& step, Bytes* out, const Fill& fill) {
  uint32_t room = 1 << 20, written = 0;
  if (!(step >> room)) room = 1 << 20;
  out->assign(room, 0xaa);
  const uint32_t error = fill(out->data(), room, &written);
  if (error == kTooLarge) {
    out->resize(sizeof(written));
    std::memcpy(out->data(), &written, sizeof(written));
  } else {
    out->resize(error == 0 ? written : 0);
  }
  return error;
}

}  // namespace steps

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  steps::Bytes text;
  if (!steps::ReadFile(argv[1], &text)) return 2;
  std::istringstream script(std::string(text.begin(), text.end()));
  for (std::string line; std::getline(script, line);) {
    steps::Bytes out;
    const auto begin = std::chrono::steady_clock::now();
    const uint32_t error = steps::Do(line, &out);
    const auto time = std::chrono::steady_clock::now() - begin;
    std::printf("%u %lld %s\n", static_cast<unsigned>(error),
                static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()),
                steps::ToHex(out).c_str());
    std::fflush(stdout);  // the next step may end this guest
  }
  return 0;
}
