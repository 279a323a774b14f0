#include "serve/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/ending.h"
#include "cli/log.h"
#include "serve/descriptors.h"
#include "serve/end_signals.h"
#include "serve/grpc_server.h"
#include "serve/http_server.h"
#include "serve/log.h"
#include "serve/ports.h"
#include "serve/repository.h"
#include "serve/rest.h"
#include "serve/routes.h"
#include "serve/statistics.h"
#include "serve/workers.h"

namespace wasinn::serve {
namespace {

using Clock = std::chrono::steady_clock;

// How late a deadline may be noticed, and the last answer of a server that ends.
constexpr std::chrono::milliseconds kTick{200}, kLookAgain{20};
// For what was cancelled, and does not heed it.
constexpr unsigned kLastSeconds = 5;
constexpr size_t kUsualConnections = 16384;

size_t Processors() { return std::max(1u, std::thread::hardware_concurrency()); }

// Want of memory ends what was begun, and nothing else.
void Try(const auto& what) {
  try {
    what();
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

// Called however its scope ends.
template <typename Function>
class AtEnd {
 public:
  explicit AtEnd(Function function) : function_(std::move(function)) {}
  ~AtEnd() { function_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const Function function_;
};

// What connections may be numbered below.
int MostDescriptors(const ServeOptions& options) {
  const int all = RaiseDescriptorLimit();
  const int most = all - Reserved(all);
  if (options.max_connections.value_or(0) > static_cast<size_t>(most)) {
    const std::string text = fmt::format(
        "there is room for {} connections: this program may have {} files open (ulimit -Hn), models' among them", most,
        all);
    cli::Log(WASINN_LOG_WARNING, text.c_str());
  }
  return most;
}

HttpOptions ForHttp(const ServeOptions& options) {
  HttpOptions http;
  http.budget = std::make_shared<MemoryBudget>(options.max_memory_in_flight);
  http.max_connections = options.max_connections.value_or(kUsualConnections);
  http.max_descriptor = MostDescriptors(options);
  http.slow = options.client_timeout;
  return http;
}

Workers::Limits ForWorkers(const ServeOptions& options) {
  return {options.workers > 0 ? options.workers : 8 * Processors(), options.max_waiting, options.wait_timeout};
}

// Its main thread accepts connections, looks at deadlines and waits for the end, and does nothing that could take long.
class Server {
 public:
  Server(const ServeOptions& options, Repository& repository, const Statistics& statistics)
      : options_(options),
        repository_(repository),
        http_options_(ForHttp(options)),
        io_threads_(options.io_threads > 0 ? options.io_threads : 2 * Processors()),
        permits_(io_threads_ - 1),
        workers_(ForWorkers(options)),
        rest_(repository, statistics, workers_, permits_, http_options_.budget,
              {options.max_body_bytes, options.max_json_bytes}),
        http_(
            context_, http_options_,
            {[this](const Header& header) {
               return HasRoute(header) ? options_.max_body_bytes : rest_.MostBody(header);
             },
             [this](Asked& asked) { return HasRoute(asked.request) ? routes_->Answer(asked) : rest_.Answer(asked); }}),
        metrics_(context_, http_options_,
                 {[](const Header&) { return 0; }, [this](Asked& asked) { return AnswerMetrics(asked); }}),
        grpc_(repository, statistics, workers_,
              {.budget = http_options_.budget,
               .max_message_bytes = options.max_body_bytes,
               .max_connections = http_options_.max_connections,
               .max_descriptor = http_options_.max_descriptor,
               .calls = {.most = http_options_.max_connections, .slow = http_options_.slow}}) {}

  // Compiles what is behind them.
  Outcome<void> LoadRoutes() {
    if (options_.routes.empty()) return {};
    auto loaded = Routes::Load(repository_.host(),
                               {.files = options_.routes,
                                .cache = options_.cache,
                                .allow_precompiled = options_.allow_precompiled,
                                .most_output = options_.max_body_bytes,
                                .workers = ForWorkers(options_)},
                               http_options_.budget);
    if (!loaded) return std::unexpected(std::move(loaded.error()));
    routes_ = std::move(*loaded);
    return {};
  }

  Outcome<void> Listen() {
    auto listens = Open("HTTP", options_.http_port, [this](int descriptor) { http_.Take(descriptor); });
    if (listens && options_.has_grpc) listens = grpc_.Start();
    if (listens && options_.has_grpc) {
      listens = Open("gRPC", options_.grpc_port, [this](int descriptor) { grpc_.Take(descriptor); });
    }
    if (listens && options_.has_metrics) {
      listens = Open("metrics", options_.metrics_port, [this](int descriptor) { metrics_.Take(descriptor); });
    }
    std::fflush(stdout);
    return listens;
  }

  void Run() {
    const auto work = asio::make_work_guard(context_);
    std::vector<std::jthread> threads;
    threads.reserve(io_threads_);
    const AtEnd stop([this] { context_.stop(); });  // also where not all threads can be had
    for (size_t i = 0; i < io_threads_; ++i) threads.emplace_back([this] { ReadAndWrite(); });
    for (bool ends = false; !ends; Sweep()) ends = ports_.Accept(kTick, signals_.descriptor());
    Drain();
    std::signal(SIGALRM, [](int) { ::_exit(0); });
    ::alarm(kLastSeconds);
    repository_.Stop();  // cancels what computes
    if (routes_ != nullptr) routes_->Stop();
    context_.stop();
    threads.clear();
    if (grpc_end_.joinable()) grpc_end_.join();
    workers_.Stop();
    routes_.reset();
    ::alarm(0);
  }

 private:
  Outcome<void> Open(const char* what, uint16_t number, Ports::Take take) {
    const auto opened = ports_.Open(options_.host, number, std::move(take));
    if (!opened) return std::unexpected(opened.error());
    fmt::print("serving {} on {}:{}\n", what, options_.host, *opened);
    return {};
  }

  bool HasRoute(const Header& header) const { return routes_ != nullptr && routes_->Has(header); }

  void ReadAndWrite() {
    while (!context_.stopped()) Try([this] { context_.run(); });
  }

  void Sweep() {
    if (Clock::now() < next_sweep_) return;
    next_sweep_ = Clock::now() + kTick;
    Try([this] { workers_.Sweep(); });
    if (routes_ != nullptr) Try([this] { routes_->Sweep(); });
    Try([this] { grpc_.Sweep(); });
  }

  asio::awaitable<Response> AnswerMetrics(Asked& asked) {
    Response response{.content_type = "text/plain; version=0.0.4"};
    const auto target = asked.request.target();
    if (target.substr(0, target.find('?')) != "/metrics") {
      response.status = http::status::not_found;
      co_return response;
    }
    Result<std::string> text = repository_.host().Metrics();
    if (!text) response.status = http::status::internal_server_error;
    response.text = text ? std::move(*text) : text.status().message();
    co_return response;
  }

  // What is asked by now is answered, until the time for that is over.
  void Drain() {
    const auto until = Clock::now() + options_.drain;
    ports_.Close();
    rest_.Drain();
    Try([this] { http_.Drain(); });
    Try([this] { metrics_.Drain(); });
    const auto drain_grpc = [this] {  // which waits for the last answer
      grpc_.Drain(std::chrono::system_clock::now() + options_.drain);
      is_grpc_drained_.store(true, std::memory_order_release);
    };
    try {
      grpc_end_ = std::jthread(drain_grpc);
    } catch (const std::system_error&) {  // the system has no thread for it
      drain_grpc();
    }
    const auto is_done = [this] {
      return http_.connections() == 0 && metrics_.connections() == 0 &&
             is_grpc_drained_.load(std::memory_order_acquire);
    };
    for (; !is_done() && Clock::now() < until; Sweep()) std::this_thread::sleep_for(kLookAgain);
  }

  const EndSignals signals_;  // from before anybody can know that it serves
  const ServeOptions& options_;
  Repository& repository_;
  const HttpOptions http_options_;
  asio::io_context context_;
  Ports ports_{context_};
  const size_t io_threads_;
  InlinePermits permits_;
  Workers workers_;
  Rest rest_;
  std::unique_ptr<Routes> routes_;  // NULL: there are none
  HttpServer http_;
  HttpServer metrics_;
  GrpcServer grpc_;
  Clock::time_point next_sweep_;
  std::atomic<bool> is_grpc_drained_{false};
  std::jthread grpc_end_;
};

int Fail(const Failure& failure) { return cli::Fail("serve: " + failure.message); }

}  // namespace

int Serve(ServeOptions options) {
  const auto statistics = std::make_shared<Statistics>();  // the host tells it to its end
  options.host_flags.spans = [statistics](const wasinn_span& span) { statistics->Add(span); };
  Result<Host> host = cli::MakeHost(options.host_flags);
  if (!host) return cli::Fail(host.status().message());
  Repository repository(std::move(*host));
  if (auto opened = repository.Open(); !opened) return Fail(opened.error());
  Server server(options, repository, *statistics);
  if (auto loaded = server.LoadRoutes(); !loaded) return Fail(loaded.error());
  if (auto listens = server.Listen(); !listens) return Fail(listens.error());
  server.Run();
  return cli::EndAtOnce(0);  // threads of gRPC, and of frameworks, may not be done
}

}  // namespace wasinn::serve
