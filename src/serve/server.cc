#include "serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <climits>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/scope_exit.h"
#include "cli/ending.h"
#include "cli/log.h"
#include "core/runtime/processors.h"
#include "serve/end_signals.h"
#include "serve/generation.h"
#include "serve/grpc/grpc_server.h"
#include "serve/http/front.h"
#include "serve/http/http_server.h"
#include "serve/http/ports.h"
#include "serve/log.h"
#include "serve/metrics/access_log.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/statistics.h"
#include "serve/oip/rest.h"
#include "serve/openai/fields.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"
#include "settings/text.h"

namespace wasinn::serve {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// How late a deadline may be noticed, and the last answer of a server that ends.
constexpr std::chrono::milliseconds kTick{200}, kDrainAgain{20};
// A request that waits for a model has no thread: until it is loaded, or the client has gone.
constexpr std::chrono::hours kLoadPatience{24};
// For cancelled work that goes on nevertheless.
constexpr unsigned kLastSeconds = 5;

// A lack of memory ends only the current work.
void LogThrown(const auto& what) {
  try {
    what();
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

Workers::Limits ForWorkers(const ServeOptions& options) {
  return {options.workers > 0 ? options.workers : size_t{8} * Processors(), options.max_waiting, options.wait_timeout};
}

// To the highest limit that needs no privilege.
int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

// Connections must have lower descriptors than this. The others are left to models and workers: the system gives the
// lowest free number, so a connection gets none of the last ones if connections with such numbers are closed.
int MaxDescriptors(const ServeOptions& options) {
  const int all = RaiseDescriptorLimit();
  const size_t threads = options.routes.empty() ? 0 : ForWorkers(options).threads + options.routes.size();
  const bool any_stay =
      std::ranges::any_of(options.routes, [](const auto& route) { return route.second.reuse.Stays(); });
  const size_t waiting = any_stay ? ForWorkers(options).threads : 0;  // instances
  const int of_each = FoldersOf(options.routes).empty() ? kMaxFilesOfGuest : kMaxFilesWithFolders;
  const int guests = static_cast<int>(threads + waiting) * of_each;
  const int most = all - std::min(512, all / 4) - std::min(guests, all / 4);
  if (options.max_connections.value_or(0) > static_cast<size_t>(most)) {
    Log(WASINN_LOG_WARNING,
        "there is room for {} connections: this program may have {} files open (ulimit -Hn), models' among them", most,
        all);
  }
  return most;
}

void WarnIfOpen(const ServeOptions& options) {
  const auto address = Try([&] { return ParseAddress(options.host); });
  if (!address || address->is_loopback() || !options.tenants.empty() || !options.tls.client_ca.empty()) return;
  Log(WASINN_LOG_WARNING,
      "any client that reaches {} can use every model: it needs no key (--api-key, tenants) and no certificate "
      "(--tls-client-ca); docs/serve.md. --host 127.0.0.1 serves only this machine",
      options.host);
}

HttpOptions ForHttp(const ServeOptions& options, std::shared_ptr<Tls> tls, std::shared_ptr<AccessLog> access_log) {
  HttpOptions http;
  http.tls = std::move(tls);
  http.access_log = std::move(access_log);
  http.budget = std::make_shared<MemoryBudget>(options.max_memory_in_flight);
  http.max_connections = options.max_connections.value_or(ServeOptions::kUsualConnections);
  http.max_descriptor = MaxDescriptors(options);
  http.idle = options.idle_timeout;
  http.slow = options.client_timeout;
  return http;
}

// Its main thread accepts connections, looks at deadlines and waits for the end, and does nothing that could take long.
class Server {
 public:
  // `tls`, `access_log`: may be NULL.
  Server(ServeOptions options, std::function<ServeOptions()> read, std::shared_ptr<Tls> tls,
         std::shared_ptr<AccessLog> access_log)
      : options_(std::move(options)),
        read_(std::move(read)),
        http_options_(ForHttp(options_, std::move(tls), std::move(access_log))),
        io_threads_(options_.io_threads > 0 ? options_.io_threads : Processors()),
        permits_(io_threads_),
        turns_(context_, io_threads_),
        workers_(ForWorkers(options_)),
        loads_({.threads = 0, .most = options_.max_waiting, .patience = kLoadPatience}),
        openai_({context_, workers_, loads_, text_metrics_}),
        rest_({*statistics_,
               openai_,
               workers_,
               loads_,
               permits_,
               turns_,
               {options_.max_body_bytes, options_.max_json_bytes}}),
        front_(options_,
               {gate_, rest_, openai_, workers_, request_metrics_,
                [this](const Generation& generation) { return MetricsOf(generation); }},
               {.statistics = statistics_,
                .budget = http_options_.budget,
                .load = [this](const Generation& generation) { return Load(generation.routes()); }}),
        http_(context_, http_options_,
              {[this](Header& header) { return front_.Admit(header); },
               [this](const Header& header, const Admission& admission) { return front_.MaxBody(header, admission); },
               [this](Exchange& exchange) { return front_.Answer(exchange); }, Front::ShapeError,
               [this](const Header& header, const About& about, const Generation* generation,
                      std::optional<http::status> status) { front_.Count(header, about, generation, status); }}),
        metrics_(context_, http_options_,
                 {[this](const Header&) { return Gate::AdmitWithoutKey(gate_.current()); },
                  [](const Header&, const Admission&) { return 0; },
                  [this](Exchange& exchange) { return AnswerMetrics(exchange); }}),
        grpc_(gate_, *statistics_, text_metrics_, workers_, loads_,
              {.budget = http_options_.budget,
               .tls = http_options_.tls,
               .access_log = http_options_.access_log,
               .requests = &request_metrics_,
               .max_message_bytes = options_.max_body_bytes,
               .max_connections = http_options_.max_connections,
               .max_descriptor = http_options_.max_descriptor,
               .calls = {.most = http_options_.max_connections, .slow = http_options_.slow},
               .keepalive = options_.grpc_keepalive}) {}

  // Opens everything that answers requests, with these options. Throws Failure, like Listen.
  void Open(const ServeOptions& options) {
    const std::shared_ptr<Generation> last = gate_.current();
    const Generation::Shared shared = {statistics_, http_options_.budget, ForWorkers(options_)};
    gate_.Open(reloader_.Keep(Generation::Make(options, shared, last.get())));
  }

  void Listen() {
    WarnIfOpen(options_);
    signals_.Serving();
    const std::string address = OpenPort("--http-port", options_.http_port, [this](int taken) { http_.Take(taken); });
    std::string all = fmt::format("serving HTTP on {}\n", address);
    if (options_.grpc_port) {
      grpc_.Start();
      all += fmt::format("serving gRPC on {}\n",
                         OpenPort("--grpc-port", *options_.grpc_port, [this](int taken) { grpc_.Take(taken); }));
    }
    if (options_.has_metrics) {
      all += fmt::format("serving metrics on {}\n", OpenPort("--metrics-port", options_.metrics_port,
                                                             [this](int taken) { metrics_.Take(taken); }));
    }
    const char* const scheme = http_options_.tls == nullptr ? "http" : "https";
    for (const auto& [path, route] : options_.routes) {
      all += fmt::format("serving {} on {}://{}{}\n", settings::PrintableName(settings::LastComponent(route.file)),
                         scheme, address, path);
    }
    std::fputs(all.c_str(), stdout);
    std::fflush(stdout);
  }

  void Run() {
    const auto work = asio::make_work_guard(context_);
    std::vector<std::jthread> threads;
    threads.reserve(io_threads_);
    const base::ScopeExit stop([this] { context_.stop(); });  // even if there are not enough threads
    for (size_t i = 0; i < io_threads_; ++i) threads.emplace_back([this] { ReadAndWrite(); });
    const IdleWorker idle_worker(context_, permits_);
    runs_.store(true);
    for (bool ends = false; !ends; Sweep()) {
      const EndSignals::Received received =
          ports_.Accept(kTick, signals_.descriptor()) ? signals_.Take() : EndSignals::Received();
      ends = received.end;
      if (received.reload) reloader_.Ask();
    }
    Drain();
    std::signal(SIGALRM, [](int) { ::_exit(0); });
    ::alarm(kLastSeconds);
    reloader_.Abandon();
    const std::vector<std::shared_ptr<Generation>> generations = gate_.All();
    loads_.Close();
    for (const auto& generation : generations) generation->Stop();
    context_.stop();
    threads.clear();
    if (grpc_end_.joinable()) grpc_end_.join();
    workers_.Stop();
    for (const auto& generation : generations) generation->End();
    if (http_options_.access_log != nullptr) http_options_.access_log->Close();
    if (!reloader_.is_busy()) ::alarm(0);  // a load may never be done
  }

 private:
  // Returns the address. `flag`: for the message.
  std::string OpenPort(const char* flag, uint16_t number, Ports::Take take) {
    const auto opened = Try([&] { return ports_.Open(options_.host, number, std::move(take)); });
    if (opened) return AddressText(options_.host, *opened);
    Throw(opened.error().code, "{} ({} names another port, 0 any free one)", opened.error().message, flag);
  }

  // Reads certificates and configuration again, and opens the access log again. Failures are logged, and the old ones
  // stay in use. Models' files are not read here: loads can take long, and no removed key may be valid until then.
  bool Reload() {
    const auto has_read = [](const char* what, const auto& read) {
      try {
        read();
      } catch (const Failure& failure) {
        Log(WASINN_LOG_ERROR, "{}: {}", what, failure.message);
        return false;
      }
      Log(WASINN_LOG_INFO, "{}: read again", what);
      return true;
    };
    if (http_options_.tls != nullptr) has_read("certificates", [this] { http_options_.tls->Load(); });
    AccessLog* const log = http_options_.access_log.get();
    if (log != nullptr) has_read("access log", [log] { log->Reopen(); });
    return has_read("configuration", [this] { ReadConfiguration(); });
  }

  void ReadConfiguration() {
    const ServeOptions options = read_();
    cli::SetLogLevel(options.log_level);
    if (options.sections.serve != options_.sections.serve) {
      Log(WASINN_LOG_WARNING, "[serve] is only read at the start: changes there need a restart");
    }
    if (options.tenants.empty() && gate_.current()->tenants().need_keys()) {
      ThrowInvalid("there are no tenants any more, so any client could send requests: that needs a restart");
    }
    Open(options);
  }

  void Upkeep(bool is_reloaded) {
    if (!runs_.load()) return;
    const std::shared_ptr<Generation> generation = gate_.current();
    if (is_reloaded) generation->repository().Rescan();
    if (options_.repository.needs_upkeep()) generation->repository().Upkeep();
  }

  json Load(const Routes* routes) const {
    const auto to_json = [](const Workers::Load& load) {
      return json{{"threads", load.threads}, {"busy", load.running}, {"waiting", load.waiting}};
    };
    const size_t asks = http_.answering();
    return {
        {"requests_in_flight", asks > 0 ? asks - 1 : 0},  // except this one
        {"grpc_calls_in_flight", grpc_.calls()},
        {"workers", to_json(workers_.Look())},
        {"loads", to_json(loads_.Look())},
        {"route_workers", routes == nullptr ? json(nullptr) : to_json(routes->Threads())},
        {"io_threads", io_threads_},
        {"connections",
         {{"http", http_.connections()}, {"metrics", metrics_.connections()}, {"most", http_options_.max_connections}}},
        {"memory_in_flight_bytes", {{"held", http_options_.budget->held()}, {"most", http_options_.budget->most()}}}};
  }

  void ReadAndWrite() {
    while (!context_.stopped()) LogThrown([this] { context_.run(); });
  }

  void Sweep() {
    if (Clock::now() < next_sweep_) return;
    next_sweep_ = Clock::now() + kTick;
    LogThrown([this] { workers_.Sweep(); });
    LogThrown([this] { loads_.Sweep(); });
    LogThrown([this] {
      for (const auto& generation : gate_.All()) LogThrown([&] { generation->Sweep(); });
    });
    LogThrown([this] { grpc_.Sweep(); });
  }

  asio::awaitable<Response> AnswerMetrics(Exchange& exchange) {
    const auto target = exchange.request.target();
    if (target.substr(0, target.find('?')) == "/metrics") co_return MetricsOf(*exchange.admission.generation);
    co_return Response{.status = http::status::not_found, .content_type = "text/plain"};
  }

  Response MetricsOf(const Generation& generation) const {
    Response response{.content_type = "text/plain; version=0.0.4"};
    Result<std::string> text = generation.repository().host().Metrics();
    if (!text) {
      response.status = http::status::internal_server_error;
      response.text = text.status().message();
      return response;
    }
    const LoadSources load{
        workers_, generation.routes(), generation.texts(), *http_options_.budget, http_.connections(), grpc_.calls()};
    response.text = *text + request_metrics_.Text() + text_metrics_.Text(options_.has_metric_aliases) +
                    LoadText(load, options_.has_metric_aliases);
    return response;
  }

  // Answers the present requests, until the time for that is over.
  void Drain() {
    const auto until = Clock::now() + options_.drain;
    // A model's load may take long, and its clients should use another server.
    for (const auto& generation : gate_.All()) generation->repository().host().StopLoads();
    ports_.Close();
    rest_.Drain();
    LogThrown([this] { http_.Drain(); });
    LogThrown([this] { metrics_.Drain(); });
    const auto drain_grpc = [this] {  // waits for the last answer
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
    for (; !is_done() && Clock::now() < until; Sweep()) std::this_thread::sleep_for(kDrainAgain);
  }

  EndSignals signals_;  // first: before any client can connect
  const ServeOptions options_;
  const std::function<ServeOptions()> read_;
  const std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();  // hosts add to it until their ends
  std::atomic<bool> runs_{false};                                                  // before the thread that reads it
  Reloader reloader_{[this] { return Reload(); }, [this](bool is_reloaded) { Upkeep(is_reloaded); }};
  Gate gate_;
  const HttpOptions http_options_;
  asio::io_context context_;
  Ports ports_{context_};
  const size_t io_threads_;
  InlinePermits permits_;
  InlineTurns turns_;
  Workers workers_;
  Workers loads_;  // one thread for each model that a request waits for
  TextMetrics text_metrics_;
  RequestMetrics request_metrics_;
  openai::OpenAi openai_;
  Rest rest_;
  Front front_;
  HttpServer http_;
  HttpServer metrics_;
  GrpcServer grpc_;
  Clock::time_point next_sweep_;
  std::atomic<bool> is_grpc_drained_{false};
  std::jthread grpc_end_;
};

}  // namespace

int Serve(const std::function<ServeOptions()>& read) try {
  const ServeOptions options = read();
  cli::SetLogLevel(options.log_level);
  std::shared_ptr<Tls> tls;
  if (!options.tls.certificate.empty()) tls = std::make_shared<Tls>(options.tls);
  std::shared_ptr<AccessLog> access_log;
  if (!options.access_log.empty()) access_log = AccessLog::Open(options.access_log);
  openai::Fields::is_strict = options.is_strict;
  Server server(options, read, std::move(tls), std::move(access_log));
  server.Open(options);
  server.Listen();
  server.Run();
  return cli::EndAtOnce(0);  // threads of gRPC, and of frameworks, may not be done
} catch (const Failure& failure) {
  return cli::Fail("serve: " + failure.message);
}

}  // namespace wasinn::serve
