#include "serve/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/host_flags.h"
#include "serve/log.h"
#include "serve/models/known_models.h"
#include "serve/server.h"

namespace wasinn::serve {

namespace {

std::unique_ptr<const GuestSettings> OwnSettings(const ServeOptions& options, const std::string& toml) {
  if (toml.empty()) return nullptr;
  return std::make_unique<const GuestSettings>(GuestSettings::Make(options, toml));
}

// Then no places for computes are kept free for other guests.
bool HasOneGuest(const ServeOptions& options) {
  return options.tenants.empty() && options.routes.empty() && options.guest_models.empty();
}

}  // namespace

Generation::~Generation() = default;

void Generation::MakeRepository(const Shared& shared, const Generation* last) {
  const bool is_alone = HasOneGuest(*options_);
  if (last != nullptr && last->options_->sections.others == options_->sections.others &&
      HasOneGuest(*last->options_) == is_alone) {
    repository_ = last->repository_;
    return;
  }
  cli::HostFlags flags = options_->host_flags;
  flags.has_one_guest = is_alone;
  flags.spans = [statistics = shared.statistics](const wasinn_span& span) { statistics->Add(span); };
  repository_ = std::make_shared<Repository>(OrThrow(cli::MakeHost(flags)), options_->repository, shared.statistics);
  last == nullptr ? repository_->Preload() : repository_->LoadAsIn(*last->repository_);
}

void Generation::WarnOfNames() const {
  const Host& host = repository_->host();
  const std::vector<ModelInfo> models = host.Models();
  if (models.empty() && options_->routes.empty() && options_->guest_models.empty()) {
    Log(WASINN_LOG_WARNING,
        "there is no model and no route: --model, --models, [models.NAME], --guest-model and --route add some");
  }
  const auto check = [&](const std::string& place, const std::string& name) {
    const bool is_there =
        options_->guest_models.contains(name) || std::ranges::any_of(models, [&](const ModelInfo& one) {
          return name == one.name || name == NameOf(one.name, std::to_string(one.version));
        });
    if (!is_there) Log(WASINN_LOG_WARNING, "{}policy.models names '{}', which is not a model here", place, name);
  };
  const Policy& policy = tenants_->keyless().settings().policy();
  for (const std::string& name : policy.models.value_or(std::vector<std::string>())) check("", name);
  for (const auto& [tenant, settings] : options_->tenants) {
    for (const std::string& name : settings.models) check(fmt::format("tenants.{}.", tenant), name);
  }
  for (const auto& [path, route] : options_->routes) {
    for (const std::string& name : route.models) check(fmt::format("routes.\"{}\".", path), name);
  }
  for (const auto& [model, guest] : options_->guest_models) {
    for (const std::string& name : guest.models) check(fmt::format("guest_models.{}.", model), name);
  }
}

GuestCode Generation::CodeOf(const Shared& shared) const {
  return {.settings = tenants_->keyless().settings().engine(),
          .metered = tenants_->meter(),
          .cache = options_->cache,
          .allow_precompiled = options_->allow_precompiled,
          .folders = FoldersOf(options_->routes),
          .most_output = options_->max_body_bytes,
          .workers = shared.workers,
          .own_settings = [this](const std::string& toml) { return OwnSettings(*options_, toml); }};
}

void Generation::MakeGuestModels(const Shared& shared) {
  if (options_->guest_models.empty()) return;
  for (const ModelInfo& model : repository_->host().Models()) {
    if (!options_->guest_models.contains(model.name)) continue;
    ThrowInvalid("the guest model '{}': a model has this name already", model.name);
  }
  for (const auto& [name, file] : options_->guest_models) {
    if (!name.contains(':')) continue;
    ThrowInvalid("the guest model '{}': a colon separates a name and a version, so a name has none", name);
  }
  GuestModelOptions options = {.files = options_->guest_models, .code = CodeOf(shared)};
  guest_models_ =
      std::make_unique<GuestModels>(repository_->host(), tenants_->keyless(), std::move(options), shared.statistics);
}

void Generation::UnloadAsIn(const Generation& last) {
  if (repository_ != last.repository_) repository_->UnloadAsIn(*last.repository_);
  const bool have_guests = guest_models_ != nullptr && last.guest_models_ != nullptr;
  if (have_guests) guest_models_->UnloadAsIn(*last.guest_models_);
}

std::unique_ptr<Generation> Generation::Make(ServeOptions options, const Shared& shared, const Generation* last) {
  std::unique_ptr<Generation> made(new Generation);
  if (last != nullptr) made->number_ = last->number_ + 1;
  made->options_ = std::make_unique<const ServeOptions>(std::move(options));
  made->MakeRepository(shared, last);
  made->tenants_ = std::make_unique<Tenants>(*made->options_, *made->repository_, shared.budget);
  if (!made->options_->routes.empty()) {
    RouteOptions routes = {.files = made->options_->routes, .code = made->CodeOf(shared)};
    made->routes_ = std::make_unique<Routes>(made->repository_->host(), std::move(routes));
  }
  made->MakeGuestModels(shared);
  made->models_ = std::make_unique<Catalog>(*made->repository_, made->guest_models_.get());
  made->texts_ =
      std::make_unique<TextModels>(*made->models_, shared.workers, made->options_->adapters, made->options_->upstreams);
  made->WarnOfNames();
  if (last != nullptr) made->UnloadAsIn(*last);  // last: all before may take long
  return made;
}

void Generation::Stop() {
  if (routes_ != nullptr) routes_->Stop();
  if (guest_models_ != nullptr) guest_models_->Stop();
  tenants_->Stop();  // last: guests of the others run on behalf of tenants' guests
}

void Generation::Sweep() {
  if (routes_ != nullptr) routes_->Sweep();
  if (guest_models_ != nullptr) guest_models_->workers().Sweep();
  texts_->Sweep();
}

void Generation::End() {
  routes_.reset();
  if (guest_models_ != nullptr) guest_models_->workers().Stop();
  texts_->Stop();
}

Reloader::Reloader(std::function<bool()> reload, std::function<void(bool)> upkeep)
    : reload_(std::move(reload)),
      upkeep_(std::move(upkeep)),
      reload_thread_([this] { Serve(); }),
      tender_([this] { Tend(); }) {}

Reloader::~Reloader() {
  Stop();
  EndAll(dead_);
}

void Reloader::Ask() {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    waits = reloads_;
  }
  if (waits) Log(WASINN_LOG_INFO, "SIGHUP: waits for the last configuration, which still loads or ends");
  wake_.notify_all();
}

std::shared_ptr<Generation> Reloader::Keep(std::unique_ptr<Generation> generation) {
  return {generation.release(), [this](Generation* dead) { Bury(dead); }};
}

void Reloader::Bury(Generation* generation) noexcept {
  {
    const std::lock_guard lock(mutex_);
    generation->next_dead_ = std::exchange(dead_, generation);
  }
  wake_.notify_all();
}

void Reloader::EndAll(Generation* dead) {
  while (dead != nullptr) {
    const std::unique_ptr<Generation> one(dead);
    dead = one->next_dead_;
  }
}

void Reloader::Do(std::unique_lock<std::mutex>& lock, bool& is_running, const std::function<void()>& job) {
  is_running = true;
  lock.unlock();
  try {
    job();
  } catch (const std::exception& thrown) {
    LogError(thrown.what());
  }
  lock.lock();
  is_running = false;
}

void Reloader::Serve() {
  for (std::unique_lock lock(mutex_);;) {
    wake_.wait(lock, [this] { return is_stopped_ || is_asked_ || dead_ != nullptr; });
    if (is_stopped_) return;
    const bool is_asked = std::exchange(is_asked_, false);
    Generation* const dead = std::exchange(dead_, nullptr);
    bool is_reloaded = false;
    Do(lock, reloads_, [&] {
      EndAll(dead);
      is_reloaded = is_asked && reload_();
    });
    if (!is_reloaded) continue;
    is_reloaded_ = true;
    wake_.notify_all();
  }
}

void Reloader::Tend() {
  for (std::unique_lock lock(mutex_);;) {
    wake_.wait_for(lock, std::chrono::seconds(1), [this] { return is_stopped_ || is_reloaded_; });
    if (is_stopped_) return;
    Do(lock, tends_, [this, is_reloaded = std::exchange(is_reloaded_, false)] { upkeep_(is_reloaded); });
  }
}

bool Reloader::is_busy() const {
  const std::lock_guard lock(mutex_);
  return reloads_ || tends_;
}

void Reloader::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_all();
}

void Reloader::Stop() {
  Abandon();
  for (std::jthread* const one : {&reload_thread_, &tender_}) {
    if (one->joinable()) one->join();
  }
}

}  // namespace wasinn::serve
