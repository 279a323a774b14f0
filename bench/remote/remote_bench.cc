// What the backend `remote` costs compared with only a client, and what a dead server costs guests.
//
//   remote-bench overhead SERVER MODEL N        the same request of N floats, by gRPC's client and by a guest, in turns
//   remote-bench overhead-http SERVER MODEL N   the same by HTTP, with Boost.Beast as the client
//   remote-bench servers SERVERS MODEL N        many guests at once over several servers by gRPC: failures, percentiles
//
// SERVER is HOST:PORT. MODEL returns its input, and has one input and one output.
#include <fmt/format.h>
#include <wasinn/wit.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/remote/native_client.h"

namespace wasinn::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::vector<double>;

double Percentile(Microseconds times, double percent) {
  std::ranges::sort(times);
  return times[static_cast<size_t>(static_cast<double>(times.size() - 1) * percent / 100)];
}

double Time(const std::function<void()>& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// A host with the model, and one guest, which calls it like an engine that runs components.
class Remote {
 public:
  explicit Remote(const wasinn::Host& host) : guest_(Of(wasinn::Guest::Create(host))) {
    graph_ = Made([&](wasinn_wit_result* out) { return wit_.graph_load_by_name(guest_.get(), "m", 1, out); });
    context_ =
        Made([&](wasinn_wit_result* out) { return wit_.graph_init_execution_context(guest_.get(), graph_, out); });
  }
  static wasinn::Host MakeHost(const std::string& address) {
    wasinn::Host host = Of(wasinn::Host::Create());
    wasinn::ModelOptions options;
    options.path = address;
    options.config = R"({"max_message_bytes": 1000000000})";
    if (const wasinn::Status status = host.AddModel("m", options); !status.ok())
      throw std::runtime_error(status.message());
    return host;
  }

  void Infer(const std::vector<float>& values, std::vector<float>* out) {
    const auto n = static_cast<uint32_t>(values.size());
    wasinn_wit_named_tensor input = {"x", 1, 0};
    Check(wit_.tensor_new(guest_.get(), &n, 1, kF32, reinterpret_cast<const uint8_t*>(values.data()),
                          values.size() * sizeof(float), &input.tensor));
    wasinn_wit_view outputs = {};
    Made([&](wasinn_wit_result* result) {
      return wit_.context_compute(guest_.get(), context_, &input, 1, result, &outputs);
    });
    const auto tensor = static_cast<const wasinn_wit_named_tensor*>(outputs.data)->tensor;
    wasinn_wit_view data = {};
    Check(wit_.tensor_data(guest_.get(), tensor, &data));
    if (data.count != out->size() * sizeof(float)) throw std::runtime_error("an answer of another size");
    std::memcpy(out->data(), data.data, data.count);
    Release(data);
    Check(wit_.tensor_drop(guest_.get(), tensor));
    Release(outputs);
  }

 private:
  static constexpr uint32_t kF32 = 1;  // tensor-type of wasi:nn

  template <typename T>
  static T Of(wasinn::Result<T> made) {
    if (!made) throw std::runtime_error(made.status().message());
    return std::move(*made);
  }
  static void Check(wasinn_status* raw) {
    if (const wasinn::Status status(raw); !status.ok()) throw std::runtime_error(status.message());
  }
  static void Release(const wasinn_wit_view& view) {
    if (view.release != nullptr) view.release(view.owner);
  }
  uint32_t Made(const std::function<wasinn_status*(wasinn_wit_result*)>& make) {
    wasinn_wit_result result = {};
    Check(make(&result));
    if (result.is_error == 0) return result.rep;
    wasinn_wit_view text = {};
    Check(wit_.error_data(guest_.get(), result.rep, &text));
    const std::string message(static_cast<const char*>(text.data), text.count);
    Release(text);
    Check(wit_.error_drop(guest_.get(), result.rep));
    throw std::runtime_error(message);
  }

  const wasinn_wit_functions& wit_ = *wasinn_wit();
  wasinn::Guest guest_;
  uint32_t graph_ = 0, context_ = 0;
};

std::vector<float> Values(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

std::string GrpcAddress(const std::string& servers, const std::string& model) {
  return "grpc://" + servers + "/" + model;
}

void Overhead(NativeClient& client, const std::string& address, const std::vector<float>& values) {
  constexpr int kRounds = 200, kCalls = 10;
  std::vector<float> out(values.size());
  const wasinn::Host host = Remote::MakeHost(address);
  Remote remote(host);
  Microseconds alone, through;
  client.Infer();  // connects
  remote.Infer(values, &out);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCalls; ++i) alone.push_back(Time([&] { client.Infer(); }));
    for (int i = 0; i < kCalls; ++i) through.push_back(Time([&] { remote.Infer(values, &out); }));
  }
  if (out != values) throw std::runtime_error("other bytes came back");
  fmt::print("{} bytes: ", values.size() * sizeof(float));
  for (const double percent : {50.0, 99.0}) {
    const double a = Percentile(alone, percent), b = Percentile(through, percent);
    fmt::print("p{:.0f} client alone {:.1f} us, remote {:.1f} us, {:+.1f} %{}", percent, a, b, 100 * (b / a - 1),
               percent == 50.0 ? "; " : "\n");
  }
}

void Servers(const std::string& servers, const std::string& name, size_t n) {
  constexpr size_t kThreads = 16, kCalls = 500;
  const std::vector<float> values = Values(n);
  const wasinn::Host host = Remote::MakeHost(GrpcAddress(servers, name));
  std::vector<Microseconds> times(kThreads);
  std::vector<size_t> failed(kThreads);
  const auto run = [&](size_t t) {
    Remote remote(host);
    std::vector<float> out(n);
    for (size_t i = 0; i < kCalls; ++i) {
      times[t].push_back(Time([&] {
        try {
          remote.Infer(values, &out);
        } catch (const std::exception&) {
          ++failed[t];
        }
      }));
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (size_t t = 0; t < kThreads; ++t) threads.emplace_back(run, t);
  }
  Microseconds all;
  size_t failures = 0;
  for (size_t t = 0; t < kThreads; ++t) {
    all.insert(all.end(), times[t].begin(), times[t].end());
    failures += failed[t];
  }
  fmt::print("{} calls, {} at once: {} failed, p50 {:.0f} us, p99 {:.0f} us\n", all.size(), kThreads, failures,
             Percentile(all, 50), Percentile(all, 99));
}

void Run(const std::string& what, const std::string& servers, const std::string& model, size_t n) {
  if (what == "overhead") {
    Overhead(*ConnectGrpc(servers, model, Values(n)), GrpcAddress(servers, model), Values(n));
  } else if (what == "overhead-http") {
    Overhead(*ConnectHttp(servers, model, Values(n)), "http://" + servers + "/v2/models/" + model, Values(n));
  } else if (what == "servers") {
    Servers(servers, model, n);
  } else {
    throw std::runtime_error("there is no measurement '" + what + "'");
  }
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) {
  try {
    const std::span arguments(argv, static_cast<size_t>(argc));
    if (argc != 5) throw std::runtime_error("usage: remote-bench overhead|overhead-http|servers SERVERS MODEL N");
    wasinn::bench::Run(arguments[1], arguments[2], arguments[3], std::strtoul(arguments[4], nullptr, 10));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "remote-bench: {}\n", error.what());
    return 1;
  }
}
