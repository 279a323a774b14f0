// Reads the text of a photographed page with three models of the host, through wasi-nn: they find text, its
// orientation, and its characters.
//
//   ocr.wasm [--boxes OUT.jpg] [--raw] CHARACTERS PAGE
//
// The models are rapidocr's, and the steps between them are those of its Python code:
// https://github.com/RapidAI/RapidOCR.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "boxes.h"
#include "picture.h"
#include "wasi_nn.hpp"

namespace {

constexpr char kUsage[] =
    "usage: ocr.wasm [options] CHARACTERS PAGE\n"
    "  --boxes OUT.jpg  write the picture with a box around each line\n"
    "  --raw            print the text only\n"
    "CHARACTERS is what characters.py prints, PAGE a PNG or JPEG file; the host must open their folders (--dir)\n"
    "and offer the models detection, orientation and recognition.\n";

struct Options {
  const char* characters = nullptr;
  const char* page = nullptr;
  const char* boxes = nullptr;
  bool raw = false;
};

bool ParseOptions(int argc, char** argv, Options* options) {
  std::vector<const char*> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--raw") {
      options->raw = true;
    } else if (arg == "--boxes" && i + 1 < argc) {
      options->boxes = argv[++i];
    } else if (arg.substr(0, 2) != "--") {
      files.push_back(argv[i]);
    } else {
      std::fprintf(stderr, "ocr: cannot make sense of %s\n", argv[i]);
      files.clear();
      break;
    }
  }
  if (files.size() != 2) {
    std::fputs(kUsage, stderr);
    return false;
  }
  options->characters = files[0];
  options->page = files[1];
  return true;
}

// A model of the host that takes pictures. Errors are printed.
class Model {
 public:
  explicit Model(const char* name) : name_(name) {}

  bool Load() {
    wasi_nn::Graph graph;
    const wasi_nn::Status loaded = graph.load_by_name(name_);
    return loaded ? Succeeded("init_execution_context", context_.init(graph)) : Succeeded("load_by_name", loaded);
  }

  // The input: three planes of height x width.
  bool Infer(const std::vector<float>& planes, int height, int width, std::vector<float>* output) {
    const wasi_nn::Status set =
        context_.set_input(0, planes, {1, 3, static_cast<uint32_t>(height), static_cast<uint32_t>(width)});
    return Succeeded("set_input", set) && Succeeded("compute", context_.compute()) &&
           Succeeded("get_output", context_.get_output(0, *output));
  }

 private:
  bool Succeeded(const char* call, wasi_nn::Status status) const {
    const std::string error(status.name());
    if (!status) std::fprintf(stderr, "ocr: model %s: %s: %s\n", name_, call, error.c_str());
    return static_cast<bool>(status);
  }

  const char* const name_;
  wasi_nn::Context context_;
};

struct Line {
  Quad box = {};
  bool overturned = false;
  std::string text;
  float score = 0;  // the mean over its characters
};

float Distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// The width of a box if its height were this.
int WidthAt(const Quad& box, int height) {
  const float width = std::max(Distance(box[0], box[1]), Distance(box[2], box[3]));
  const float own = std::max(Distance(box[0], box[3]), Distance(box[1], box[2]));
  return std::max(1, static_cast<int>(std::ceil(static_cast<float>(height) * width / own)));
}

// The sides become multiples of 32, and the shorter one is at least 736.
bool FindLines(const Picture& page, Model* detection, std::vector<Line>* lines) {
  const float scale = std::max(1.0f, 736.0f / static_cast<float>(std::min(page.width, page.height)));
  const auto side = [&](int size) {
    return std::max(32, static_cast<int>(std::lround(static_cast<float>(size) * scale / 32)) * 32);
  };
  const int width = side(page.width), height = side(page.height);
  const auto right = static_cast<float>(page.width), bottom = static_cast<float>(page.height);
  const Quad all = {Point{0, 0}, Point{right, 0}, Point{right, bottom}, Point{0, bottom}};
  std::vector<float> map;
  if (!detection->Infer(Planes(page, all, width, height, width), height, width, &map)) return false;
  for (Quad box : FindBoxes(map, width, height)) {
    for (Point& corner : box) {
      corner = {corner.x * right / static_cast<float>(width), corner.y * bottom / static_cast<float>(height)};
    }
    constexpr int kHigh = 100;
    if (WidthAt(box, kHigh) * 3 <= kHigh * 2) std::rotate(box.begin(), box.begin() + 1, box.end());  // written upwards
    lines->emplace_back().box = box;
  }
  return true;
}

// Returns two probabilities: that a line is upright, and that it is upside down.
bool TurnUp(const Picture& page, Model* orientation, Line* line) {
  constexpr int kHeight = 48, kWidth = 192;
  constexpr float kSure = 0.9f;
  const int width = std::min(WidthAt(line->box, kHeight), kWidth);
  std::vector<float> probabilities;
  if (!orientation->Infer(Planes(page, line->box, width, kHeight, kWidth), kHeight, kWidth, &probabilities))
    return false;
  line->overturned = probabilities.size() == 2 && probabilities[1] > kSure;
  if (line->overturned) std::rotate(line->box.begin(), line->box.begin() + 2, line->box.end());
  return true;
}

// Returns a probability of each character for each step through the line; the first character stands for none. A
// character that lasts for several steps is one.
bool Read(const Picture& page, const std::vector<std::string>& characters, Model* recognition, Line* line) {
  constexpr int kHeight = 48, kLeastWidth = 320;
  const int width = WidthAt(line->box, kHeight), room = std::max(width, kLeastWidth);
  std::vector<float> probabilities;
  if (!recognition->Infer(Planes(page, line->box, width, kHeight, room), kHeight, room, &probabilities)) return false;
  if (probabilities.size() % characters.size() != 0) {
    std::fprintf(stderr, "ocr: the model knows other characters than these %zu\n", characters.size());
    return false;
  }
  size_t last = 0, count = 0;
  for (auto step = probabilities.begin(); step != probabilities.end();) {
    const auto end = step + static_cast<ptrdiff_t>(characters.size());
    const auto best = std::max_element(step, end);
    const auto character = static_cast<size_t>(best - step);
    if (character != 0 && character != last) {
      line->text += characters[character];
      line->score += *best;
      ++count;
    }
    last = character;
    step = end;
  }
  if (count > 0) line->score /= static_cast<float>(count);
  return true;
}

// One per line. Before them comes none, and after them the blank.
bool ReadCharacters(const char* path, std::vector<std::string>* characters) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) {
    std::perror(path);
    return false;
  }
  characters->emplace_back();
  char text[64];
  while (std::fgets(text, sizeof(text), file) != nullptr) {
    std::string& character = characters->emplace_back(text);
    if (character.ends_with('\n')) character.pop_back();
  }
  std::fclose(file);
  characters->emplace_back(" ");
  return true;
}

void Print(const std::vector<Line>& lines, bool raw) {
  for (const Line& line : lines) {
    if (raw) {
      std::printf("%s\n", line.text.c_str());
    } else {
      std::printf("  %3.0f %%  %s %s\n", static_cast<double>(line.score) * 100, line.overturned ? "↻" : " ",
                  line.text.c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  std::vector<std::string> characters;
  if (!ReadCharacters(options.characters, &characters)) return 1;
  Picture page;
  std::string error;
  if (!ReadPicture(options.page, &page, &error)) {
    std::fprintf(stderr, "ocr: %s: %s\n", options.page, error.c_str());
    return 1;
  }
  Model detection("detection"), orientation("orientation"), recognition("recognition");
  if (!detection.Load() || !orientation.Load() || !recognition.Load()) return 1;

  const auto begin = std::chrono::steady_clock::now();
  std::vector<Line> lines;
  if (!FindLines(page, &detection, &lines)) return 1;
  for (Line& line : lines) {
    if (!TurnUp(page, &orientation, &line) || !Read(page, characters, &recognition, &line)) return 1;
  }
  constexpr float kLegible = 0.5f;
  std::erase_if(lines, [](const Line& line) { return line.score < kLegible; });
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;

  Print(lines, options.raw);
  if (!options.raw) std::printf("\n  %zu lines in %.2f s\n", lines.size(), time.count());
  if (options.boxes == nullptr) return 0;
  for (const Line& line : lines) Draw(line.box, &page);
  if (WritePicture(options.boxes, page)) return 0;
  std::fprintf(stderr, "ocr: cannot write %s\n", options.boxes);
  return 1;
}
