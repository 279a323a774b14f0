#include "support/echo.h"

#include "support/this_build.h"

namespace wasinn::testing {

void Log::Write(void* self, const wasinn_log_record* record) {
  auto* log = static_cast<Log*>(self);
  std::lock_guard lock(log->mutex_);
  log->lines_.emplace_back(record->message);
}

std::vector<std::string> Log::lines() const {
  std::lock_guard lock(mutex_);
  return lines_;
}

bool Log::Contains(std::string_view text) const {
  for (const std::string& line : lines()) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string Log::Last() const {
  std::lock_guard lock(mutex_);
  return lines_.empty() ? "" : lines_.back();
}

ConfigPtr EchoConfig(const std::string& toml, const std::string& folder) {
  const std::string folders =
      "backend_dirs = ['" + EchoFolder() + "'" + (folder.empty() ? "" : ", '" + folder + "'") + "]\n";
  ConfigPtr config(wasinn_config_new());
  // Tests are about the core by default; tests of workers say so.
  StatusPtr status(wasinn_config_set(config.get(), "policy.load", "in-process"));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  status.reset(wasinn_config_load_toml(config.get(), (folders + toml).c_str()));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  return config;
}

HostPtr EchoHost(Log& log, const std::string& toml, const std::string& folder) {
  wasinn_host* host = nullptr;
  const StatusPtr status(wasinn_host_new(EchoConfig(toml, folder).get(), &Log::Write, &log, &host));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  return HostPtr(host);
}

wasinn_statistics StatsOf(const GuestPtr& guest) {
  wasinn_statistics stats{.struct_size = sizeof(stats)};
  EXPECT_EQ(wasinn_guest_statistics(guest.get(), &stats), nullptr);
  return stats;
}

std::string EchoModel(std::string_view directives) { return "GGUF\n" + std::string(directives); }

StatusPtr AddEchoModel(wasinn_host* host, const char* name, std::string_view directives, wasinn_model_options options) {
  const std::string text = EchoModel(directives);
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  if (options.struct_size == 0) options.struct_size = sizeof(options);
  options.builders = &bytes;
  options.n_builders = 1;
  return StatusPtr(wasinn_host_add_model(host, name, &options));
}

void AddEchoModel(wasinn_host* host, const char* name, std::string_view directives) {
  const StatusPtr status = AddEchoModel(host, name, directives, {});
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
}

uint64_t CompilesOf(const HostPtr& host) {
  uint64_t compiles = 0;
  wasinn_host_models(
      host.get(), [](void* sum, const wasinn_model_info* model) { *static_cast<uint64_t*>(sum) += model->compiles; },
      &compiles);
  return compiles;
}

GuestPtr NewGuest(wasinn_host* host, const wasinn_guest_options* options) {
  wasinn_guest* guest = nullptr;
  const StatusPtr status(wasinn_guest_new(host, options, &guest));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  return GuestPtr(guest);
}

GuestPtr NewGuest(wasinn_host* host, const std::function<void(wasinn_limits&)>& set) {
  wasinn_limits limits{.struct_size = sizeof(limits)};
  EXPECT_EQ(wasinn_host_limits(host, &limits), nullptr);
  set(limits);
  wasinn_guest_options options{.struct_size = sizeof(options)};
  options.limits = &limits;
  return NewGuest(host, &options);
}

GuestPtr NewGuest(wasinn_host* host, const std::function<void(wasinn_policy&)>& set) {
  wasinn_policy policy{.struct_size = sizeof(policy)};
  EXPECT_EQ(wasinn_host_policy(host, &policy), nullptr);
  set(policy);
  wasinn_guest_options options{.struct_size = sizeof(options)};
  options.policy = &policy;
  return NewGuest(host, &options);
}

GuestPtr NewGuest(wasinn_host* host, uint32_t wasinn_limits::* limit, uint32_t value) {
  return NewGuest(host, [&](wasinn_limits& limits) { limits.*limit = value; });
}

GuestPtr NewGuest(wasinn_host* host, uint64_t wasinn_limits::* limit, uint64_t value) {
  return NewGuest(host, [&](wasinn_limits& limits) { limits.*limit = value; });
}

const wasinn_function& FunctionNamed(std::string_view name) {
  const size_t dot = name.find('.');
  const std::string_view module = dot == name.npos ? "wasi_ephemeral_nn" : name.substr(0, dot);
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (module == functions[i]->module && name.substr(dot + 1) == functions[i]->name) return *functions[i];
  }
  ADD_FAILURE() << "no function " << name;
  return *functions[0];
}

uint32_t FakeGuest::Call(std::string_view function, const std::vector<uint64_t>& args) {
  const wasinn_function& called = FunctionNamed(function);
  EXPECT_EQ(std::strlen(called.params), args.size()) << function;
  const wasinn_memory memory{sizeof(wasinn_memory), 0, hidden_ ? nullptr : memory_.data(), memory_.size()};
  return called.call(guest_, &memory, args.data(), sizeof(uint64_t));
}

uint32_t FakeGuest::Reserve(size_t size) {
  const uint32_t address = next_;
  next_ += static_cast<uint32_t>(size) + 1;  // so that addresses are not aligned
  EXPECT_LE(next_, memory_.size()) << "the fake guest needs more memory";
  return address;
}

uint32_t FakeGuest::Put(const void* bytes, size_t size) {
  const uint32_t address = Reserve(size);
  if (size > 0) std::memcpy(memory_.data() + address, bytes, size);
  return address;
}

uint32_t FakeGuest::PutTensor(const std::vector<uint32_t>& dims, uint8_t type, uint32_t data, uint32_t size) {
  const uint32_t dims_address = PutAll(dims);
  const std::vector<uint32_t> tensor = {dims_address, static_cast<uint32_t>(dims.size()), type, data, size};
  return PutAll(tensor);
}

uint32_t FakeGuest::LoadBytes(std::string_view model, uint32_t encoding, uint32_t& graph) {
  const uint32_t builders = PutAll(std::vector<uint32_t>{Put(model), static_cast<uint32_t>(model.size())});
  const uint32_t out = Reserve(4);
  const uint32_t error = Call("load", {builders, 1, encoding, 0, out});
  graph = Read<uint32_t>(out);
  return error;
}

uint32_t FakeGuest::LoadByName(std::string_view name, uint32_t& graph) {
  const uint32_t out = Reserve(4);
  const uint32_t error = Call("load_by_name", {Put(name), name.size(), out});
  graph = Read<uint32_t>(out);
  return error;
}

uint32_t FakeGuest::InitContext(uint32_t graph, uint32_t& context) {
  const uint32_t out = Reserve(4);
  const uint32_t error = Call("init_execution_context", {graph, out});
  context = Read<uint32_t>(out);
  return error;
}

uint32_t FakeGuest::NewContext(std::string_view name) {
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(LoadByName(name, graph), kSuccess) << name;
  EXPECT_EQ(InitContext(graph, context), kSuccess) << name;
  return context;
}

uint32_t FakeGuest::Open(std::string_view directives) {
  uint32_t graph = 0, context = 0;
  if (LoadBytes(EchoModel(directives), kGgmlEncoding, graph) != kSuccess) return 0;
  EXPECT_EQ(InitContext(graph, context), kSuccess) << directives;
  return context;
}

uint32_t FakeGuest::LoadWithConfig(std::string_view name, std::string_view config, uint32_t& graph) {
  const uint32_t out = Reserve(4);
  const uint32_t error = Call("load_by_name_with_config", {Put(name), name.size(), Put(config), config.size(), out});
  graph = Read<uint32_t>(out);
  return error;
}

std::string FakeGuest::Text(std::string_view function, std::vector<uint64_t> args) {
  const uint32_t place = next_, written = Reserve(4), room = static_cast<uint32_t>(memory_.size()) - next_ - 1;
  const uint32_t buffer = Reserve(room);
  next_ = place;
  args.insert(args.end(), {buffer, room, written});
  const uint32_t error = Call(function, args);
  EXPECT_EQ(error, kSuccess) << function;
  if (error != kSuccess) return "";
  return {reinterpret_cast<const char*>(memory_.data()) + buffer, Read<uint32_t>(written)};
}

}  // namespace wasinn::testing
