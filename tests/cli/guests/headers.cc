// Each function of wasi_nn_ext.hpp that is wasinn's, on the model in the file that is named; 0 where all is as it should.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "wasi_nn_ext.hpp"

namespace {

int Fail(const char* what) {
  std::string words;
  const bool report = static_cast<bool>(wasi_nn::last_error(words));
  std::printf("%s: %s\n", what, report ? words.c_str() : "no words");
  return 1;
}

std::vector<uint8_t> Read(const char* path) {
  std::vector<uint8_t> bytes(1 << 16);
  std::FILE* file = std::fopen(path, "rb");
  bytes.resize(file == nullptr ? 0 : std::fread(bytes.data(), 1, bytes.size(), file));
  if (file != nullptr) std::fclose(file);
  return bytes;
}

// A call with all of an inference gives what the usual three calls give, on a context or on a graph, by index or by name.
int CheckOnce(const wasi_nn::Graph& graph, wasi_nn::Context context) {
  const std::vector<float> x = {4, 5, 6, 7};
  constexpr uint32_t kShape[] = {4};
  std::vector<float> usual;
  if (!context.set_input(0, x, kShape) || !context.compute() || !context.get_output(0, usual)) return Fail("usual");
  std::vector<float> by_name(4);
  std::array<float, 6> by_index = {};
  const wasi_nn::Input named[] = {{"x", x, kShape}}, numbered[] = {{0, x, kShape}};
  wasi_nn::Output name[] = {{"x", by_name}}, index[] = {{0, by_index}};
  if (!wasi_nn::compute_once(context, named, index)) return Fail("compute_once on a context");
  if (!wasi_nn::compute_once(graph, numbered, name)) return Fail("compute_once on a graph");
  if (by_name != usual || name[0].written != 16) return Fail("by name");
  if (!std::equal(usual.begin(), usual.end(), by_index.begin()) || index[0].written != 16) return Fail("by index");
  wasi_nn::Output small[] = {{0, std::span(by_index).first(3)}};
  if (wasi_nn::compute_once(context, named, small).code() != WASI_NN_TOO_LARGE) return Fail("a small buffer");
  if (small[0].written != 16) return Fail("the size that is needed");
  if (context.compute().code() != WASI_NN_INVALID_ARGUMENT) return Fail("an input is left");
  return 0;
}

// An output of a context becomes its next input.
int CheckRound(wasi_nn::Context context) {
  const std::vector<float> x = {4, 5, 6, 7};
  std::vector<float> first, second;
  if (!context.set_input(0, x, {4}) || !context.compute() || !context.get_output(0, first)) return Fail("the first");
  if (!wasi_nn::set_input_from_output(context, 0, context, 0)) return Fail("set_input_from_output");
  if (!context.compute() || !context.get_output(0, second) || first != second) return Fail("the second");
  return wasi_nn::set_input_from_output(context, 9, context, 0) ? Fail("an input that is not there") : 0;
}

// All of them are begun before the first one is waited for. Each writes its own output when it is polled.
int CheckOverlap(const wasi_nn::Graph& graph) {
  constexpr uint32_t kMany = 16;
  std::vector<wasi_nn::Context> contexts(kMany);
  std::array<float, kMany> outputs = {};
  std::array<uint32_t, kMany> sizes = {}, place = {};
  for (uint32_t i = 0; i < kMany; ++i) {
    wasi_nn::Context& context = contexts[i];
    place[i] = i;
    if (!context.init(graph) || !context.set_input(0, std::vector<float>{1.0f + static_cast<float>(i)}, {1}) ||
        !wasi_nn::set_output(context, 0, std::span(outputs).subspan(i, 1), &sizes[i])) {
      return Fail("a context");
    }
    if (!wasi_nn::compute_begin(context)) return Fail("compute_begin");
    if (wasi_nn::compute_begin(context).code() != WASI_NN_BUSY) return Fail("compute_begin, again");
  }
  while (!contexts.empty()) {
    uint32_t ended = kMany;
    if (!wasi_nn::compute_wait(contexts, &ended) || ended >= contexts.size()) return Fail("compute_wait");
    if (outputs[place[ended]] != 0) return Fail("an output before it is polled");
    if (!wasi_nn::compute_poll(contexts[ended])) return Fail("compute_poll");
    if (outputs[place[ended]] != 1.0f + static_cast<float>(place[ended]) || sizes[place[ended]] != 4) return Fail("it");
    if (contexts.size() == 1 && wasi_nn::compute_cancel(contexts[0])) return Fail("compute_cancel of none");
    contexts[ended] = contexts.back();
    place[ended] = place[contexts.size() - 1];
    contexts.pop_back();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<uint8_t> model = Read(argv[1]);
  wasi_nn::Graph graph;
  if (wasi_nn::load_as(model, "no-format", &graph)) return Fail("a format that is not there");
  std::string words;
  if (!wasi_nn::last_error(words) || !words.starts_with("load_as: invalid_encoding: ")) return Fail("last_error");
  if (!wasi_nn::load_as(model, "ggml", &graph, WASI_NN_TARGET_AUTO)) return Fail("load_as");
  std::string json;
  if (!wasi_nn::describe(graph, json)) return Fail("describe");
  std::printf("%s\n", json.c_str());
  wasi_nn::Context context;
  if (!context.init(graph)) return Fail("init");
  const std::vector<float> x = {1, 2, 3};
  if (!wasi_nn::set_input_by_name(context, "x", x, {3})) return Fail("set_input_by_name");
  if (!context.compute()) return Fail("compute");
  std::vector<float> out;
  if (!wasi_nn::get_output_by_name(context, "x", out) || out != x) return Fail("get_output_by_name");
  std::array<float, 3> first = {}, second = {};
  uint32_t first_size = 0, second_size = 0;
  if (!wasi_nn::set_output(context, 0, first, &first_size) || !context.compute()) return Fail("set_output");
  if (!wasi_nn::set_output_by_name(context, "x", second, &second_size) || !context.compute()) {
    return Fail("set_output_by_name");
  }
  if (first_size != 12 || first != second || second[2] != 3 || second_size != 12) return Fail("outputs");
  if (!context.init(graph)) return Fail("init again");
  const int once = CheckOnce(graph, context);
  const int round = once != 0 ? once : CheckRound(context);
  return round != 0 ? round : CheckOverlap(graph);
}
