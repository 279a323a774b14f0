#include "serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "cli/log.h"
#include "serve/grpc_server.h"
#include "serve/http_server.h"
#include "serve/repository.h"
#include "serve/rest.h"
#include "serve/statistics.h"
#include "serve/workers.h"

namespace wasinn::serve {
namespace {

constexpr std::chrono::milliseconds kLookAgain{20};

size_t Processors() { return std::max(1u, std::thread::hardware_concurrency()); }

class Server {
 public:
  Server(const ServeOptions& options, Repository& repository, const Statistics& statistics)
      : options_(options),
        repository_(repository),
        workers_(options.workers > 0 ? options.workers : 8 * Processors(), options.max_waiting),
        rest_(repository, statistics, workers_),
        http_(context_, options.http, [this](const Request& request) { return rest_.Answer(request); }),
        grpc_(repository, statistics, workers_),
        metrics_(context_, options.http, [this](const Request& request) { return AnswerMetrics(request); }) {}

  Outcome<void> Listen() {
    if (auto listens = http_.Listen(options_.host, options_.http_port); !listens) return listens;
    fmt::print("serving HTTP on {}:{}\n", options_.host, http_.port());
    if (options_.has_grpc) {
      if (auto listens = grpc_.Listen(options_.host, options_.grpc_port, options_.http.max_body_bytes); !listens) {
        return listens;
      }
      fmt::print("serving gRPC on {}:{}\n", options_.host, grpc_.port());
    }
    if (options_.has_metrics) {
      if (auto listens = metrics_.Listen(options_.host, options_.metrics_port); !listens) return listens;
      fmt::print("serving metrics on {}:{}\n", options_.host, metrics_.port());
    }
    std::fflush(stdout);
    return {};
  }

  void Run() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) Drain();
    });
    std::vector<std::jthread> threads;
    const size_t n = options_.io_threads > 0 ? options_.io_threads : 2 * Processors();
    for (size_t i = 1; i < n; ++i) threads.emplace_back([this] { context_.run(); });
    context_.run();
    threads.clear();
    repository_.Stop();  // cancels what computes
    if (grpc_end_.joinable()) grpc_end_.join();
    workers_.Join();
  }

 private:
  asio::awaitable<Response> AnswerMetrics(const Request& request) {
    Response response{.content_type = "text/plain; version=0.0.4"};
    if (request.target() != "/metrics") {
      response.status = http::status::not_found;
      co_return response;
    }
    Result<std::string> text = repository_.host().Metrics();
    if (!text) {
      response.status = http::status::internal_server_error;
      response.text = text.status().message();
      co_return response;
    }
    response.text = std::move(*text);
    co_return response;
  }

  // What is asked by now is answered; a second signal, or the time, ends that.
  void Drain() {
    until_ = std::chrono::steady_clock::now() + std::chrono::seconds(options_.drain_seconds);
    rest_.Drain();
    http_.Drain();
    grpc_end_ = std::jthread([this] {  // it waits for the last answer
      grpc_.Drain(std::chrono::system_clock::now() + std::chrono::seconds(options_.drain_seconds));
      is_grpc_drained_.store(true, std::memory_order_release);
    });
    metrics_.Drain();
    signals_.async_wait([](const boost::system::error_code& error, int signal) {
      if (!error) std::_Exit(128 + signal);
    });
    LookWhetherAllIsDone();
  }

  void LookWhetherAllIsDone() {
    const bool all =
        http_.connections() == 0 && metrics_.connections() == 0 && is_grpc_drained_.load(std::memory_order_acquire);
    if (all || std::chrono::steady_clock::now() >= until_) return context_.stop();
    timer_.expires_after(kLookAgain);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) LookWhetherAllIsDone();
    });
  }

  const ServeOptions& options_;
  Repository& repository_;
  asio::io_context context_;
  asio::signal_set signals_{context_, SIGTERM, SIGINT};
  asio::steady_timer timer_{context_};
  std::chrono::steady_clock::time_point until_;
  Workers workers_;
  Rest rest_;
  HttpServer http_;
  GrpcServer grpc_;
  HttpServer metrics_;
  std::atomic<bool> is_grpc_drained_{false};
  std::jthread grpc_end_;
};

int Fail(const Failure& failure) { return cli::Fail("serve: " + failure.message); }

}  // namespace

int Serve(ServeOptions options) {
  Statistics statistics;  // the host tells it to its end
  options.host_flags.spans = [&statistics](const wasinn_span& span) { statistics.Add(span); };
  Result<Host> host = cli::MakeHost(options.host_flags);
  if (!host) return cli::Fail(host.status().message());
  Repository repository(std::move(*host));
  if (auto opened = repository.Open(); !opened) return Fail(opened.error());
  Server server(options, repository, statistics);
  if (auto listens = server.Listen(); !listens) return Fail(listens.error());
  server.Run();
  return 0;
}

}  // namespace wasinn::serve
