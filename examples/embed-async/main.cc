// Many guests on one thread: an event loop that no inference blocks. While the host computes for a guest, on one of its
// own threads, the loop runs the others. Usage: embed-async digits.onnx guest.wat [GUESTS [INFERENCES]]
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <wasinn/wasmtime.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

void Check(const wasinn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(1);
}

void Check(wasmtime_error_t* error, wasm_trap_t* trap = nullptr) {
  if (error == nullptr && trap == nullptr) return;
  wasm_name_t message;
  error != nullptr ? wasmtime_error_message(error, &message) : wasm_trap_message(trap, &message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size), message.data);
  std::exit(1);
}

// The guests that can continue. Any thread may call Wake; the descriptor wakes the loop.
class Ready {
 public:
  Ready() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Ready() { ::close(event_); }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  int descriptor() const { return event_; }
  void Wake(size_t guest) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      guests_.push_back(guest);
    }
    const uint64_t one = 1;
    if (::write(event_, &one, sizeof one) < 0) std::abort();
  }
  std::vector<size_t> Take() {
    uint64_t count = 0;
    if (::read(event_, &count, sizeof count) < 0) return {};
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(guests_, {});
  }

 private:
  const int event_;
  std::mutex mutex_;
  std::vector<size_t> guests_;
};

// A guest with its store. It has one future at a time: first that of its instance, then that of its program.
class Program {
 public:
  Program(wasm_engine_t* engine, const wasinn::Host& host, Ready& ready, size_t number, int inferences)
      : guest_(wasinn::Guest::Create(host)), ready_(ready), number_(number) {
    if (!guest_) Check(guest_.status());
    store_ = wasmtime_store_new(engine, this, nullptr);
    argument_.kind = WASMTIME_I32;
    argument_.of.i32 = inferences;
  }
  ~Program() {
    if (future_ != nullptr) wasmtime_call_future_delete(future_);
    guest_->Close();  // before the guest's memory goes
    wasmtime_store_delete(store_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Begin(const wasmtime_instance_pre_t* program) {
    wasmtime_context_t* context = wasmtime_store_context(store_);
    future_ = wasmtime_instance_pre_instantiate_async(program, context, &instance_, &trap_, &error_);
    while (!wasmtime_call_future_poll(future_)) {  // its start calls nothing
    }
    wasmtime_call_future_delete(future_);
    Check(error_, trap_);
    wasmtime_extern_t serve;
    if (!wasmtime_instance_export_get(context, &instance_, "serve", 5, &serve)) std::abort();
    serve_ = serve.of.func;
    future_ = wasmtime_func_call_async(context, &serve_, &argument_, 1, &digit_, 1, &trap_, &error_);
  }
  // Runs until the guest waits for the host, or ends. Returns its result once. A wake can be for a call that the guest
  // has already seen end.
  std::optional<int> Run() {
    if (ended_ || !wasmtime_call_future_poll(future_)) return std::nullopt;
    ended_ = true;
    Check(error_, trap_);
    return digit_.of.i32;
  }

  static wasinn_wasmtime_async_caller CallerOf(wasmtime_context_t* context, void*) {
    auto* self = static_cast<Program*>(wasmtime_context_get_data(context));
    const auto wake = [](void* user) {
      auto* program = static_cast<Program*>(user);
      program->ready_.Wake(program->number_);
    };
    return {self->guest_->get(), nullptr, wake, self};
  }

 private:
  wasinn::Result<wasinn::Guest> guest_;
  Ready& ready_;
  const size_t number_;
  wasmtime_store_t* store_ = nullptr;
  wasmtime_instance_t instance_ = {};
  wasmtime_func_t serve_ = {};
  wasmtime_val_t argument_{}, digit_{};
  wasm_trap_t* trap_ = nullptr;
  wasmtime_error_t* error_ = nullptr;
  wasmtime_call_future_t* future_ = nullptr;
  bool ended_ = false;
};

// The results of the guests, and how many had each.
std::map<int, int> RunAll(std::vector<std::unique_ptr<Program>>& programs, Ready& ready) {
  const int events = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  if (events < 0 || ::epoll_ctl(events, EPOLL_CTL_ADD, ready.descriptor(), &wanted) != 0) std::abort();
  std::map<int, int> digits;
  for (size_t i = 0; i < programs.size(); ++i) ready.Wake(i);
  for (size_t left = programs.size(); left > 0;) {
    epoll_event event;
    (void)::epoll_wait(events, &event, 1, -1);  // other descriptors of the program could be added here
    for (const size_t i : ready.Take()) {
      const std::optional<int> digit = programs[i]->Run();
      if (!digit) continue;
      ++digits[*digit];
      --left;
    }
  }
  ::close(events);
  return digits;
}

wasmtime_module_t* Compile(wasm_engine_t* engine, const char* path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  wasm_byte_vec_t wasm;
  Check(wasmtime_wat2wasm(text.data(), text.size(), &wasm));
  wasmtime_module_t* module;
  Check(wasmtime_module_new(engine, reinterpret_cast<uint8_t*>(wasm.data), wasm.size, &module));
  return module;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "Usage: %s digits.onnx guest.wat [GUESTS [INFERENCES]]\n", argv[0]), 2;
  const size_t guests = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1000;
  const int inferences = argc > 4 ? std::atoi(argv[4]) : 100;
  wasinn::Config config;
  Check(config.Set("call_threads", "2"));
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(
      config, [](const wasinn_log_record& record) { std::fprintf(stderr, "%s\n", record.message); });
  if (!host) Check(host.status());
  wasinn::ModelOptions digits;
  digits.path = argv[1];
  Check(host->AddModel("digits", digits));

  wasm_engine_t* engine = wasm_engine_new();
  wasmtime_linker_t* linker = wasmtime_linker_new(engine);
  Check(wasinn::wasmtime::LinkAsync(linker, *host, Program::CallerOf));
  wasmtime_instance_pre_t* program;
  Check(wasmtime_linker_instantiate_pre(linker, Compile(engine, argv[2]), &program));

  Ready ready;
  std::vector<std::unique_ptr<Program>> programs;
  for (size_t i = 0; i < guests; ++i) {
    programs.push_back(std::make_unique<Program>(engine, *host, ready, i, inferences));
    programs.back()->Begin(program);
  }
  const auto start = std::chrono::steady_clock::now();
  const std::map<int, int> said = RunAll(programs, ready);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& [digit, count] : said) std::printf("%d guests see a %d\n", count, digit);
  std::fprintf(stderr, "%.0f inferences/s, all of them in flight on 2 threads\n",
               static_cast<double>(guests) * inferences / seconds);
}  // the engine's objects go with the OS process
