// serve-load: sends the same request to a server on this machine again and again, and measures the times of the
// answers. Without --rate, each connection sends its next request after the last answer. With --rate, requests are due
// at that rate whatever the server does, evenly or at random (--poisson), and their times begin when they are due. So
// waiting for a free connection counts.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/serve/load.h"

namespace wasinn::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct LoadOptions {
  Target target;
  std::string protocol = "http", body_file;
  size_t connections = 1;
  double rate = 0, seconds = 5, warm_up = 1;
  bool is_poisson = false;
};

class Load {
 public:
  explicit Load(const LoadOptions& options) : options_(options), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (size_t i = 0; i < options.connections; ++i) {
      clients_.push_back({options.protocol == "grpc" ? ConnectGrpc(options.target) : ConnectHttp(options.target), {}});
      epoll_event event = {EPOLLIN, {.u64 = i}};
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, clients_[i].connection->descriptor(), &event) != 0) {
        throw std::runtime_error("epoll_ctl");
      }
      free_.push_back(i);
    }
  }

  void Run() {
    const auto start = Clock::now();
    first_ = start + Convert(options_.warm_up);
    last_ = first_ + Convert(options_.seconds);
    next_due_ = start;
    for (auto now = start; now < last_; now = Clock::now()) {
      Begin(now);
      epoll_event events[64];
      const int n = ::epoll_wait(epoll_, events, std::size(events), options_.rate > 0 ? 0 : 100);
      for (int i = 0; i < n; ++i) Take(events[i].data.u64);
    }
  }

  void Print() {
    std::ranges::sort(micros_);
    const auto at = [this](double part) {
      if (micros_.empty()) return 0.0F;
      const double rank = std::ceil(part * static_cast<double>(micros_.size()));
      return micros_[static_cast<size_t>(std::max(rank, 1.0)) - 1];
    };
    fmt::print(R"({{"requests": {}, "errors": {}, "per_s": {:.1f}, "p50_us": {:.1f}, "p90_us": {:.1f}, )"
               R"("p99_us": {:.1f}, "p999_us": {:.1f}, "max_us": {:.1f}}})"
               "\n",
               micros_.size(), errors_, static_cast<double>(micros_.size()) / options_.seconds, at(.5), at(.9), at(.99),
               at(.999), at(1));
  }

 private:
  struct Client {
    std::unique_ptr<Connection> connection;
    Clock::time_point due;
  };

  static Clock::duration Convert(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  }

  // Sends due requests, as long as a connection is free.
  void Begin(Clock::time_point now) {
    if (options_.rate > 0) {
      for (; next_due_ <= now; next_due_ += Convert((options_.is_poisson ? gap_(random_) : 1) / options_.rate))
        due_.push_back(next_due_);
    }
    while (!free_.empty() && (options_.rate <= 0 || !due_.empty())) {
      Client& client = clients_[free_.front()];
      free_.pop_front();
      client.due = Clock::now();
      if (options_.rate > 0) {
        client.due = due_.front();
        due_.pop_front();
      }
      client.connection->Send();
    }
  }

  void Take(size_t index) {
    Client& client = clients_[index];
    if (!client.connection->Read()) return;
    const auto now = Clock::now();
    free_.push_back(index);
    if (now < first_ || now >= last_) return;
    if (!client.connection->is_good()) ++errors_;
    micros_.push_back(static_cast<float>(Seconds(now - client.due).count() * 1e6));
  }

  const LoadOptions& options_;
  const int epoll_;
  std::vector<Client> clients_;
  std::deque<size_t> free_;
  std::deque<Clock::time_point> due_;
  Clock::time_point first_, last_, next_due_;
  std::mt19937_64 random_{1};
  std::exponential_distribution<double> gap_;
  std::vector<float> micros_;
  uint64_t errors_ = 0;
};

int Main(int argc, char** argv) {
  CLI::App app("Load a server of this machine, and print how long its answers take");
  LoadOptions options;
  app.add_option("--protocol", options.protocol, "http or grpc; default http")->check(CLI::IsMember({"http", "grpc"}));
  app.add_option("--port", options.target.port)->required();
  app.add_option("--path", options.target.path, "The path of the requests (POST)")->required();
  app.add_option("--body", options.body_file, "A file with the request's body, or gRPC's message")->required();
  app.add_option("--key", options.target.key, "The key of a tenant; default none");
  app.add_option("--connections", options.connections, "Connections; default 1");
  app.add_option("--rate", options.rate, "Requests per second; default as many as are answered");
  app.add_flag("--poisson", options.is_poisson, "Send at random times instead of evenly");
  app.add_option("--seconds", options.seconds, "Seconds that are measured; default 5");
  app.add_option("--warm-up", options.warm_up, "Seconds before these that are not measured; default 1");
  CLI11_PARSE(app, argc, argv);
  std::ifstream file(options.body_file, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + options.body_file);
  options.target.body.assign(std::istreambuf_iterator<char>(file), {});
  Load load(options);
  load.Run();
  load.Print();
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "serve-load: %s\n", error.what());
  return 1;
}
