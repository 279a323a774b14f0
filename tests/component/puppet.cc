#include "component/puppet.h"

#include "support/test.h"

namespace wasinn::testing {
namespace {

std::string Take(wasmtime_error_t* error) {
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::string text(message.data, message.size);
  wasm_name_delete(&message);
  wasmtime_error_delete(error);
  return text;
}

[[noreturn]] void Fail(std::string_view what, wasmtime_error_t* error) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(what.size()), what.data(), Take(error).c_str());
  std::exit(1);
}

void PollToItsEnd(wasmtime_call_future_t* future) {
  for (int seen = PuppetWakes(); !wasmtime_call_future_poll(future); seen = PuppetWakes()) PuppetWakes().wait(seen);
}

std::vector<wasmtime_component_val_t> Values(std::initializer_list<uint32_t> args) {
  std::vector<wasmtime_component_val_t> values;
  for (const uint32_t arg : args) {
    wasmtime_component_val_t value = {};
    value.kind = WASMTIME_COMPONENT_U32;
    value.of.u32 = arg;
    values.push_back(value);
  }
  return values;
}

std::expected<uint32_t, std::string> ToResult(wasmtime_error_t* error, const wasmtime_component_val_t& result) {
  if (error != nullptr) return std::unexpected(Take(error));
  return result.of.u32;
}

// The value that linkers get, to see it come back.
constinit int user = 0;

wasinn_guest* GuestOf(wasmtime_context_t* context, void* given) {
  EXPECT_EQ(given, &user);
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

void Wake(void* wakes) {
  ++*static_cast<std::atomic<int>*>(wakes);
  static_cast<std::atomic<int>*>(wakes)->notify_all();
}

wasinn_wasmtime_async_caller CallerOf(wasmtime_context_t* context, void* given) {
  return {GuestOf(context, given), nullptr, Wake, &PuppetWakes()};
}

wasm_engine_t* EngineOfAll() {
  static wasm_engine_t* const engine = wasm_engine_new();
  return engine;
}

struct FreeLinker {
  void operator()(wasmtime_component_linker_t* linker) const { wasmtime_component_linker_delete(linker); }
};

wasmtime_component_linker_t* LinkerOfAll(PuppetCalls calls) {
  static std::map<PuppetCalls, std::unique_ptr<wasmtime_component_linker_t, FreeLinker>> linkers;
  auto& linker = linkers[calls];
  if (linker != nullptr) return linker.get();
  linker.reset(wasmtime_component_linker_new(EngineOfAll()));
  if (wasinn_status* status = LinkPuppets(linker.get(), calls)) {
    std::fprintf(stderr, "%s\n", wasinn_status_message(status));
    std::exit(1);
  }
  return linker.get();
}

}  // namespace

PuppetCalls UsualPuppetCalls() {
  const char* calls = std::getenv("PUPPET_CALLS");
  return calls != nullptr && std::string_view(calls) == "async" ? PuppetCalls::kAsync : PuppetCalls::kWait;
}

wasinn_status* LinkPuppets(wasmtime_component_linker_t* linker, PuppetCalls calls) {
  if (calls == PuppetCalls::kAsync) return wasinn_wasmtime_component_link_async(linker, nullptr, CallerOf, &user);
  return wasinn_wasmtime_component_link(linker, nullptr, GuestOf, &user);
}

std::atomic<int>& PuppetWakes() {
  static constinit std::atomic<int> wakes{0};
  return wakes;
}

PuppetShow::PuppetShow(std::string_view text, PuppetCalls calls)
    : PuppetShow(EngineOfAll(), LinkerOfAll(calls), text, calls) {}

const PuppetShow& PuppetShow::Of(std::string_view version, PuppetCalls calls) {
  static std::map<std::pair<std::string, PuppetCalls>, PuppetShow> shows;
  return shows.try_emplace({std::string(version), calls}, PuppetText(version), calls).first->second;
}

PuppetShow::PuppetShow(wasm_engine_t* engine, wasmtime_component_linker_t* linker, std::string_view text,
                       PuppetCalls calls)
    : engine_(engine), calls_(calls) {
  wasmtime_component_t* component = nullptr;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  if (auto* error = wasmtime_component_new(engine, bytes, text.size(), &component)) Fail("compiling", error);
  if (auto* error = wasinn_wasmtime_component_pre_new(linker, component, &pre_)) Fail("linking", error);
  wasmtime_component_delete(component);
}

PuppetShow::~PuppetShow() { wasinn_wasmtime_component_pre_delete(pre_); }

Puppet::Puppet(const PuppetShow& show, void* data)
    : calls_(show.calls()), store_(wasmtime_store_new(show.engine(), data, nullptr)) {
  wasmtime_error_t* error = nullptr;
  if (calls_ == PuppetCalls::kWait) {
    error = wasinn_wasmtime_component_pre_instantiate(show.pre(), context(), &instance_);
  } else if (auto* future =
                 wasinn_wasmtime_component_pre_instantiate_async(show.pre(), context(), &instance_, &error)) {
    PollToItsEnd(future);
    wasmtime_call_future_delete(future);
  }
  if (error != nullptr) Fail("instantiating", error);
}

Puppet::~Puppet() { wasmtime_store_delete(store_); }

std::expected<wasmtime_component_func_t, std::string> Puppet::Find(std::string_view function) {
  wasmtime_component_export_index_t* index =
      wasmtime_component_instance_get_export_index(&instance_, context(), nullptr, function.data(), function.size());
  wasmtime_component_func_t found;
  if (index == nullptr || !wasmtime_component_instance_get_func(&instance_, context(), index, &found)) {
    return std::unexpected("the puppet has no " + std::string(function));
  }
  wasmtime_component_export_index_delete(index);
  return found;
}

std::unique_ptr<Puppet::Future> Puppet::Begin(std::string_view function, std::initializer_list<uint32_t> args) {
  std::unique_ptr<Future> begun(new Future());
  const auto found = Find(function);
  EXPECT_TRUE(found) << found.error();
  begun->function_ = *found;
  begun->args_ = Values(args);
  begun->future_ = wasinn_wasmtime_component_func_call_async(&begun->function_, context(), begun->args_.data(),
                                                             begun->args_.size(), &begun->result_, 1, &begun->error_);
  return begun;
}

Puppet::Future::~Future() {
  if (future_ != nullptr) wasmtime_call_future_delete(future_);
  if (error_ != nullptr) wasmtime_error_delete(error_);
}

bool Puppet::Future::Poll() { return ended_ = ended_ || wasmtime_call_future_poll(future_); }

std::expected<uint32_t, std::string> Puppet::Future::Run() {
  for (int seen = PuppetWakes(); !Poll(); seen = PuppetWakes()) PuppetWakes().wait(seen);
  return ToResult(std::exchange(error_, nullptr), result_);
}

std::expected<uint32_t, std::string> Puppet::Try(std::string_view function, std::initializer_list<uint32_t> args) {
  if (calls_ == PuppetCalls::kAsync) return Begin(function, args)->Run();
  const auto found = Find(function);
  if (!found) return std::unexpected(found.error());
  const std::vector<wasmtime_component_val_t> values = Values(args);
  wasmtime_component_val_t result = {};
  wasmtime_error_t* error = wasmtime_component_func_call(&*found, context(), values.data(), values.size(), &result, 1);
  return ToResult(error, result);
}

uint32_t Puppet::Call(std::string_view function, std::initializer_list<uint32_t> args) {
  const auto result = Try(function, args);
  EXPECT_TRUE(result) << function << ": " << result.error();
  return result.value_or(0xdead);
}

uint32_t Puppet::Good(std::string_view function, std::initializer_list<uint32_t> args) {
  Call(function, args);
  EXPECT_EQ(Peek(kResult) & 0xff, 0u) << function << " succeeds";
  return Peek(kResult + 4);
}

std::string Puppet::PeekBytes(uint32_t address, uint32_t size) {
  std::string bytes;
  for (uint32_t i = 0; i < size; ++i) bytes += static_cast<char>(Peek(address + i));
  return bytes;
}

void Puppet::Poke(uint32_t address, std::string_view bytes) {
  for (const char byte : bytes) Call("poke", {address++, static_cast<uint8_t>(byte)});
}

void Puppet::PokeWords(uint32_t address, std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) {
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    Poke(address, std::string_view(bytes, sizeof bytes));
    address += sizeof word;
  }
}

}  // namespace wasinn::testing
