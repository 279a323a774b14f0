// plant CODE NAMES MODEL…: writes the file CODE into the working folder under each of the names in the file NAMES, one
// a line. Then it has the host load each MODEL, which is NAME,ENCODING,FILE[,FILE]: by name, for each device that a
// guest can ask for, and from the bytes of its files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "attack.h"

using namespace attack;

uint32_t LoadByNameWithConfig(uint32_t name, uint32_t size, uint32_t config, uint32_t config_size, uint32_t out)
    ATTACK_IMPORT("load_by_name_with_config");

namespace {

void Write(const std::vector<uint8_t>& code, const std::string& name) {
  FILE* file = std::fopen(name.c_str(), "wb");
  if (file != nullptr && std::fwrite(code.data(), 1, code.size(), file) == code.size() && std::fclose(file) == 0)
    return;
  std::printf("cannot write %s\n", name.c_str());
  std::exit(72);
}

// As another name of `first`, which is quicker to make than a file.
void Plant(const std::string& first, const std::string& name) {
  for (size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
    mkdir(name.substr(0, slash).c_str(), 0700);
  }
  if (link(first.c_str(), name.c_str()) == 0) return;
  std::printf("cannot make %s\n", name.c_str());
  std::exit(72);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

uint32_t LoadFiles(const std::vector<std::string>& files, uint32_t encoding, uint32_t* graph) {
  std::vector<std::vector<uint8_t>> parts;
  std::vector<uint32_t> builders;
  for (const std::string& file : files) parts.push_back(ReadFile(file.c_str()));
  for (const auto& part : parts) {
    builders.push_back(Address(part.data()));
    builders.push_back(static_cast<uint32_t>(part.size()));
  }
  return Load(Address(builders.data()), static_cast<uint32_t>(parts.size()), encoding, WASI_NN_TARGET_CPU,
              Address(graph));
}

// Files that a compute opens are opened, too. Its result does not matter.
void TryCompute(uint32_t graph) {
  uint32_t context = 0;
  if (InitContext(graph, Address(&context)) != 0) return;
  const std::vector<float> image(64, 0.5f);
  const std::vector<uint8_t> text(64, 'a');
  if (SetValues(context, 0, {1, 1, 8, 8}, WASI_NN_F32, image) != 0 &&
      SetValues(context, 0, {1, 1, 8, 8}, WASI_NN_U8, text) != 0) {
    return;
  }
  Compute(context);
}

void Try(const std::string& model) {
  std::vector<std::string> words = Split(model, ',');
  const std::string name = words[0];
  const auto encoding = static_cast<uint32_t>(std::atoi(words[1].c_str()));
  words.erase(words.begin(), words.begin() + 2);
  uint32_t graph = 0;
  uint32_t error = LoadNamed(name, &graph);
  PrintResult(name + " by name", error);
  if (error == 0) TryCompute(graph);
  for (const char* device : {"cpu", "gpu", "tpu", "auto", "AUTO:GPU", "HETERO:GPU,CPU"}) {
    const std::string config = std::string("{\"device\": \"") + device + "\"}";
    error = LoadByNameWithConfig(Address(name.data()), static_cast<uint32_t>(name.size()), Address(config.data()),
                                 static_cast<uint32_t>(config.size()), Address(&graph));
    PrintResult(name + " on " + device, error);
    if (error == 0) TryCompute(graph);
  }
  if (words.empty()) return;
  error = LoadFiles(words, encoding, &graph);
  PrintResult(name + " from bytes", error);
  if (error == 0) TryCompute(graph);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<uint8_t> code = ReadFile(argv[1]);
  const std::vector<uint8_t> names = ReadFile(argv[2]);
  const std::vector<std::string> places = Split(std::string(names.begin(), names.end()), '\n');
  if (!places.empty()) Write(code, places[0]);
  for (size_t i = 1; i < places.size(); ++i) Plant(places[0], places[i]);
  for (int i = 3; i < argc; ++i) Try(argv[i]);
  std::puts("done");
}
