#include "serve/models/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "common/config.h"
#include "common/error.h"
#include "serve/log.h"

namespace wasinn::serve {
namespace {

constexpr int64_t kUsualParallel = 64, kMaxParallel = 65536;
// Servers in Python end a connection that was idle for 5 seconds. One that is used just then would be lost.
constexpr std::chrono::seconds kUpstreamIdle{4};
constexpr size_t kMaxIdleStreams = 64;  // at each server

}  // namespace

bool Upstream::IsAddress(std::string_view path) {
  if (!path.starts_with("http://") && !path.starts_with("https://")) return false;
  const size_t begin = path.find('/', path.find("://") + 3);
  if (begin == std::string_view::npos) return false;
  const std::string_view behind = path.substr(begin);
  return behind.contains("/v1/") && !behind.starts_with("/v2/");
}

Upstream::Upstream(std::string name, remote::Address address, remote::ModelConfig config, size_t most)
    : name_(std::move(name)),
      address_(std::move(address)),
      config_(std::move(config)),
      most_(most),
      servers_(address_.endpoints.size()) {
  if (address_.is_secure) tls_.emplace(remote::MakeClientTls(config_.connection));
}

std::shared_ptr<Upstream> Upstream::Make(std::string name, const std::string& address,
                                         const UpstreamSettings& settings) {
  const auto own = settings.models.find(name);
  const std::string model = own == settings.models.end() ? "{}" : own->second;
  try {
    remote::Address parsed = remote::ParseAddress(address);
    remote::ModelConfig config =
        remote::ModelConfig::Parse(settings.backend.c_str(), model.c_str(), parsed.transport, parsed.is_secure);
    const int64_t parallel = backend::Config(model.c_str(), "configuration of the model")
                                 .Integer("parallel", 1, kMaxParallel)
                                 .value_or(kUsualParallel);
    return std::shared_ptr<Upstream>(
        new Upstream(std::move(name), std::move(parsed), std::move(config), static_cast<size_t>(parallel)));
  } catch (const backend::Error& error) {
    throw Failure{error.code(), error.what()};
  }
}

Upstream::Place::~Place() {
  if (upstream_ != nullptr) upstream_->Leave(*this);
}

Upstream::Place Upstream::Enter(const Share& share) {
  const std::lock_guard lock(mutex_);
  size_t& own = n_of_[share.id()];
  const size_t most_own = share.is_alone() ? most_ : std::max<size_t>(1, most_ - most_ / 4);
  if (n_requests_ < most_ && own >= most_own) {
    throw TryAgain(fmt::format("the tenant has {} of the model's {} requests, the limit of one tenant", own, most_));
  }
  if (n_requests_ >= most_) {
    if (own == 0) n_of_.erase(share.id());
    throw TryAgain(fmt::format("the model's server has {} requests, its limit", n_requests_));
  }
  ++n_requests_;
  ++own;
  return Place(shared_from_this(), share.id());
}

void Upstream::Leave(const Place& place) {
  const std::lock_guard lock(mutex_);
  --n_requests_;
  if (--n_of_[place.share_] == 0) n_of_.erase(place.share_);
  if (place.server_) --servers_[*place.server_].n_requests;
}

std::optional<size_t> Upstream::Choose(Place& place, std::vector<bool>& tried) {
  tried.resize(servers_.size());
  const std::lock_guard lock(mutex_);
  if (place.server_) --servers_[*place.server_].n_requests;
  place.server_.reset();
  const Clock::time_point now = Clock::now();
  const auto rank = [&](size_t i) {
    const Server& server = servers_[i];
    return std::pair(server.is_away && now < server.away_until, server.n_requests);
  };
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!tried[i] && (!place.server_ || rank(i) < rank(*place.server_))) place.server_ = i;
  }
  if (!place.server_) return std::nullopt;
  tried[*place.server_] = true;
  ++servers_[*place.server_].n_requests;
  return place.server_;
}

std::unique_ptr<remote::HttpStream> Upstream::TakeIdle(size_t server) {
  const std::lock_guard lock(mutex_);
  std::vector<Idle>& idle = servers_[server].idle;
  while (!idle.empty()) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    if (Clock::now() < last.until && last.stream->IsReusable()) return std::move(last.stream);
  }
  return nullptr;
}

void Upstream::KeepIdle(size_t server, std::unique_ptr<remote::HttpStream> stream) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  std::vector<Idle>& idle = servers_[server].idle;
  std::erase_if(idle, [&](const Idle& one) { return one.until <= now; });
  if (is_stopped_ || idle.size() == kMaxIdleStreams) return;
  idle.push_back({std::move(stream), now + kUpstreamIdle});
}

void Upstream::Log(size_t server, bool is_warning, const std::string& what) const {
  try {
    serve::Log(is_warning ? WASINN_LOG_WARNING : WASINN_LOG_INFO, "model '{}': server {}{}", name_, endpoint(server),
               what);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no memory to say so
  }
}

void Upstream::LogState(size_t server, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    Server& one = servers_[server];
    if (!why.empty()) one.away_until = Clock::now() + config_.health_interval;
    if (one.is_away != why.empty()) return;
    one.is_away = !why.empty();
  }
  Log(server, !why.empty(), why.empty() ? " serves again" : ": " + why);
}

void Upstream::LogRefused(size_t server, unsigned status) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(servers_[server].is_refusing, true)) return;
  }
  Log(server, true,
      fmt::format(" answers with status {}: is its key right? ({})", status,
                  config_.headers.empty() ? "the model has no `headers`" : "the model's `headers`"));
}

Workers::Load Upstream::Look() const {
  const std::lock_guard lock(mutex_);
  return {.threads = most_, .running = n_requests_, .waiting = 0};
}

void Upstream::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (Server& server : servers_) server.idle.clear();
}

}  // namespace wasinn::serve
