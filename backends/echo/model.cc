#include "model.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace wasinn::echo {
namespace {

uint32_t DtypeNumber(std::string_view name) {
  // Not destroyed at exit, when threads of a worker may still run.
  static constexpr std::pair<std::string_view, uint32_t> kNumbers[] = {
      {"f16", WASINN_DTYPE_F16},  {"bf16", WASINN_DTYPE_BF16}, {"f32", WASINN_DTYPE_F32}, {"f64", WASINN_DTYPE_F64},
      {"u8", WASINN_DTYPE_U8},    {"i8", WASINN_DTYPE_I8},     {"u16", WASINN_DTYPE_U16}, {"i16", WASINN_DTYPE_I16},
      {"u32", WASINN_DTYPE_U32},  {"i32", WASINN_DTYPE_I32},   {"u64", WASINN_DTYPE_U64}, {"i64", WASINN_DTYPE_I64},
      {"bool", WASINN_DTYPE_BOOL}};
  const auto* found = std::ranges::find(kNumbers, name, &std::pair<std::string_view, uint32_t>::first);
  return found == std::end(kNumbers) ? uint32_t{WASINN_DTYPE_UNKNOWN} : found->second;
}

void ReadInput(wasinn_backend_graph& model, std::istringstream& line) {
  auto io = std::make_unique<Io>();
  std::string dtype, dims, word;
  line >> io->name >> dtype >> dims;
  std::istringstream numbers(dims == "scalar" || dims == "any" ? "" : dims);
  numbers.exceptions(std::ios::badbit);
  while (std::getline(numbers, word, ',')) io->dims.push_back(std::stoll(word));
  io->io = {.struct_size = sizeof(wasinn_io),
            .dtype = DtypeNumber(dtype),
            .flags = 0,
            .rank = dims == "any" ? -1 : static_cast<int32_t>(io->dims.size()),
            .dims = io->dims.data(),
            .name = io->name.c_str(),
            .type_name = "echo"};
  while (line >> word) {
    if (word == "optional") io->io.flags |= WASINN_IO_OPTIONAL;
    if (word == "any_name") io->io.flags |= WASINN_IO_ANY_NAME;
    if (word == "opaque") io->io.flags |= WASINN_IO_OPAQUE;
    if (word == "always") io->io.flags |= WASINN_IO_ALWAYS;
    if (word == "unservable") io->io.flags |= WASINN_IO_UNSERVABLE;
    if (word == "bindable") io->io.flags |= WASINN_IO_BINDABLE;
  }
  model.pointers.push_back(&io->io);
  model.ios.push_back(std::move(io));
}

}  // namespace

void ReadModel(wasinn_backend_graph& model, std::string_view text) {
  std::istringstream lines{std::string(text)};
  lines.exceptions(std::ios::badbit);  // for memory that does not exist
  std::string line, word;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    words.exceptions(std::ios::badbit);
    words >> word;
    if (word == "in") ReadInput(model, words);
    if (word == "delay") words >> model.delay_ms;
    if (word == "takes") words >> model.takes;
    if (word == "outgrows") words >> model.outgrows;
    if (word == "untakeable") model.untakeable = true;
    if (word == "memory") words >> model.memory;
    if (word == "strays") model.strays = true;
    if (word == "leaves") model.leaves = true;
    if (word == "shares") model.shares = true;
    if (word == "wears") model.wears = true;
    if (word == "says") words >> model.says;
    if (word == "records") words >> model.records;
    if (word == "async") words >> model.async;
    if (word == "keeps") words >> model.keeps;
    if (word == "load_keeps") words >> model.load_keeps;
    if (word == "gate") words >> model.gate;
    if (word == "gated") words >> model.gated;
    if (word == "load_gate") words >> model.load_gate;
    if (word == "unload_gate") words >> model.unload_gate;
    if (word == "free_gate") words >> model.free_gate;
    if (word == "cancel_gate") words >> model.cancel_gate;
    if (word == "context_gate") words >> model.context_gate;
    if (word == "pieces") words >> model.piece;
    if (word == "room") words >> model.room;
    if (word == "turns") words >> model.turns;
    if (word == "deaf") model.deaf = true;
    if (word == "late") model.late = true;
    if (word == "stateful") model.stateful = true;
    if (word == "opaque_outputs") model.opaque_outputs = true;
    if (word == "fail") words >> model.fail;
    if (word == "poison") words >> model.poison;
    if (word == "deadly") words >> model.deadly;
    if (word == "endless") words >> model.endless;
    if (word == "load_delay") words >> model.load_delay_ms;
    if (word == "dies") words >> model.dies;
    if (word == "fail_load") words >> model.fail_load;
    word.clear();
  }
  for (const wasinn_io* io : model.pointers) model.late_ios.push_back(*io);
  for (wasinn_io& io : model.late_ios) {
    if (model.opaque_outputs) io.flags |= WASINN_IO_UNSERVABLE;
    model.late_pointers.push_back(&io);
  }
  const auto count = static_cast<uint32_t>(model.pointers.size());
  model.info = {
      sizeof(wasinn_info),
      count,
      model.late ? WASINN_COUNT_UNKNOWN : count,
      model.pointers.data(),
      model.late ? nullptr : model.pointers.data(),
      model.turns,
      (model.shares ? uint32_t{WASINN_GRAPH_SHARES_SLOTS} : 0) | (model.stateful ? uint32_t{WASINN_GRAPH_STATEFUL} : 0),
      model.memory.empty() ? nullptr : model.memory.c_str()};
}

}  // namespace wasinn::echo
