// Times one inference natively, from a guest on WAMR with WAMR's own wasi-nn, and from the same guest on the same WAMR
// with wasinn, in turns.
//
// usage: bench-wamr-wasi-nn BENCH.wasm MODEL.onnx [SECONDS]
// BENCH.wasm is the guest of `wasinn bench`; inputs and outputs are f32. Prints one JSON object, with the keys that
// `wasinn bench --json` has for the same figures; "peer" is the side with WAMR's wasi-nn.
#include <unistd.h>
#include <wasinn/wamr.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "native.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kStackBytes = 64 << 10, kF32 = 1, kLoop = 16;
constexpr auto kTurn = std::chrono::milliseconds(5);

void Must(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Must(wasinn_status* status) { Must(status == nullptr, status == nullptr ? "" : wasinn_status_message(status)); }

// The guest of `wasinn bench`. It uses the wasi-nn that was registered last when it was loaded.
class Guest {
 public:
  explicit Guest(const std::vector<uint8_t>& wasm) : wasm_(wasm) {
    char error[128] = "";
    const wasm_module_t module =
        wasm_runtime_load(wasm_.data(), static_cast<uint32_t>(wasm_.size()), error, sizeof error);
    Must(module != nullptr, error);
    instance_ = wasm_runtime_instantiate(module, kStackBytes, 0, error, sizeof error);
    Must(instance_ != nullptr, error);
    env_ = wasm_runtime_create_exec_env(instance_, kStackBytes);
    iterate_ = wasm_runtime_lookup_function(instance_, "iterate");
    iterate_many_ = wasm_runtime_lookup_function(instance_, "iterate_many");
  }

  void Prepare(const std::string& model, Native& native) {
    std::vector<uint32_t> inputs, outputs;
    for (uint32_t i = 0; i < native.inputs().size(); ++i) {
      const NativeTensor& tensor = native.inputs()[i];
      const std::vector<uint32_t> dims(tensor.dims.begin(), tensor.dims.end());
      inputs.insert(inputs.end(),
                    {i, Put(dims.data(), dims.size() * 4), static_cast<uint32_t>(dims.size()), kF32,
                     Put(tensor.bytes.data(), tensor.bytes.size()), static_cast<uint32_t>(tensor.bytes.size())});
    }
    for (uint32_t i = 0; i < native.outputs().size(); ++i) {
      const auto size = static_cast<uint32_t>(native.outputs()[i].bytes.size());
      outputs_.push_back(Reserve(size));
      outputs.insert(outputs.end(), {i, outputs_.back(), size, 0});
    }
    const uint32_t name = Put(model.data(), model.size());
    const uint32_t in = Put(inputs.data(), inputs.size() * 4), out = Put(outputs.data(), outputs.size() * 4);
    const uint32_t error =
        Call(wasm_runtime_lookup_function(instance_, "prepare"),
             {name, static_cast<uint32_t>(model.size()), in, static_cast<uint32_t>(native.inputs().size()), out,
              static_cast<uint32_t>(native.outputs().size())});
    Must(error == 0, "the guest could not load the model: errno " + std::to_string(error));
  }
  void Iterate() { Must(Call(iterate_, {}) == 0, "an inference failed"); }
  void IterateMany() { Must(Call(iterate_many_, {kLoop}) == 0, "an inference failed"); }
  bool HasOutputsOf(Native& native) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const std::vector<uint8_t>& bytes = native.outputs()[i].bytes;
      if (std::memcmp(At(outputs_[i]), bytes.data(), bytes.size()) != 0) return false;
    }
    return true;
  }

 private:
  uint32_t Call(wasm_function_inst_t function, std::initializer_list<uint32_t> args) {
    uint32_t values[8] = {};
    std::ranges::copy(args, values);
    if (!wasm_runtime_call_wasm(env_, function, static_cast<uint32_t>(args.size()), values))
      Must(false, "the guest trapped");
    return values[0];
  }
  uint32_t Reserve(size_t size) {
    return Call(wasm_runtime_lookup_function(instance_, "reserve"), {static_cast<uint32_t>(size)});
  }
  uint32_t Put(const void* bytes, size_t size) {
    const uint32_t address = Reserve(size);
    std::memcpy(At(address), bytes, size);
    return address;
  }
  uint8_t* At(uint32_t address) {
    return static_cast<uint8_t*>(wasm_memory_get_base_address(wasm_runtime_get_default_memory(instance_))) + address;
  }

  std::vector<uint8_t> wasm_;  // WAMR writes into it
  wasm_module_inst_t instance_ = nullptr;
  wasm_exec_env_t env_ = nullptr;
  wasm_function_inst_t iterate_ = nullptr, iterate_many_ = nullptr;
  std::vector<uint32_t> outputs_;
};

struct Side {
  const char* name;
  std::function<void()> work;
  std::vector<double> us;
};

// The order changes. Each turn begins with work that is not timed, because the caches have the data of another side.
void TakeTurns(std::vector<Side>& sides, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (size_t round = 0; Clock::now() < end; ++round) {
    for (size_t i = 0; i < sides.size(); ++i) {
      Side& side = sides[(i + round) % sides.size()];
      side.work();
      const auto turn_end = Clock::now() + kTurn;
      for (auto start = Clock::now(); start < turn_end; start = Clock::now()) {
        side.work();
        side.us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
      }
    }
  }
}

// The same as in bench/measure.cc.
double Percentile(std::vector<double>& values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<ptrdiff_t>(std::clamp<size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

void Print(FILE* out, const char* key, std::vector<Side>& sides, double share, uint32_t inferences) {
  std::fprintf(out, ",\n  \"%s\": {", key);
  for (Side& side : sides) {
    std::fprintf(out, "%s\"%s\": %.3f", &side == sides.data() ? "" : ", ", side.name,
                 Percentile(side.us, share) / inferences);
  }
  std::fputs("}", out);
}

void Repeat(const std::function<void()>& work) {
  for (uint32_t i = 0; i < kLoop; ++i) work();
}

void Start(wasinn_host** host, const std::string& model) {
  Must(wasinn_host_new(nullptr, nullptr, nullptr, host));
  wasinn_model_options options{};
  options.struct_size = sizeof options;
  options.path = model.c_str();
  options.preload = true;
  Must(wasinn_host_add_model(*host, "model", &options));
}

// The inputs of the guests, and outputs to compare theirs with.
void FillInputs(Native& native) {
  for (NativeTensor& tensor : native.inputs()) {
    for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      const float value = static_cast<float>(i * 7 % 100) / 100;
      std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
    }
  }
  native.Run();
}

}  // namespace

int main(int argc, char** argv) {
  Must(argc >= 3, "usage: bench-wamr-wasi-nn BENCH.wasm MODEL.onnx [SECONDS]");
  // WAMR's wasi-nn writes its log to stdout.
  FILE* out = ::fdopen(::dup(STDOUT_FILENO), "w");
  Must(out != nullptr && ::dup2(STDERR_FILENO, STDOUT_FILENO) != -1, "no stdout");
  const std::string model = argv[2];
  const double seconds = argc > 3 ? std::atof(argv[3]) : 3;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<uint8_t> wasm{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::unique_ptr<Native> native = OpenNative(model);
  FillInputs(*native);

  RuntimeInitArgs args = {};
  args.mem_alloc_type = Alloc_With_System_Allocator;
  Must(wasm_runtime_full_init(&args), "WAMR does not start");
  Guest own(wasm);              // before wasinn takes the place of WAMR's wasi-nn
  own.Prepare(model, *native);  // WAMR's wasi-nn treats a name as a path
  wasinn_host* host = nullptr;
  Start(&host, model);
  wasinn_wamr* registered = nullptr;
  Must(wasinn_wamr_register(host, &registered));
  Guest ours(wasm);
  ours.Prepare("model", *native);

  std::vector<uint8_t> source = native->inputs()[0].bytes, result(native->outputs()[0].bytes.size());
  const std::function<void()> copying = [&] {
    std::memcpy(native->inputs()[0].bytes.data(), source.data(), source.size());
    native->Run();
    std::memcpy(result.data(), native->outputs()[0].bytes.data(), result.size());
  };
  std::vector<Side> calls = {{"native", [&] { native->Run(); }, {}},
                             {"native_copy", copying, {}},
                             {"peer", [&] { own.Iterate(); }, {}},
                             {"guest", [&] { ours.Iterate(); }, {}}};
  std::vector<Side> loops = {{"native_copy", [&] { Repeat(copying); }, {}},
                             {"peer", [&] { own.IterateMany(); }, {}},
                             {"guest", [&] { ours.IterateMany(); }, {}}};
  TakeTurns(calls, seconds);
  TakeTurns(loops, seconds);
  Must(own.HasOutputsOf(*native), "WAMR's own wasi-nn gives other outputs");
  Must(ours.HasOutputsOf(*native), "wasinn gives other outputs");
  std::fprintf(out, "{\n  \"peer\": \"WAMR's wasi-nn\"");
  Print(out, "p50_us", calls, 0.50, 1);
  Print(out, "p99_us", calls, 0.99, 1);
  Print(out, "loop_us", loops, 0.50, kLoop);
  Print(out, "loop_p99_us", loops, 0.99, kLoop);
  std::fputs("\n}\n", out);
  std::fclose(out);
  std::_Exit(0);  // WAMR's wasi-nn and its framework do not shut down cleanly
}
