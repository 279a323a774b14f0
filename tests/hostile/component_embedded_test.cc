// Components in one process that embeds Wasmtime and wasinn: what a trap leaves behind is freed, and a guest that runs
// meanwhile does not notice.
#include <gtest/gtest.h>
#include <wasi.h>
#include <wasinn/wasmtime.h>

#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <wasinn/wasinn.hpp>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

template <auto kDelete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kDelete(object);
  }
};
template <typename T, auto kDelete>
using Owned = std::unique_ptr<T, Deleter<kDelete>>;

wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

std::string Take(wasmtime_error_t* error) {
  if (error == nullptr) return "";
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::string text(message.data, message.size);
  wasm_name_delete(&message);
  wasmtime_error_delete(error);
  return text;
}

struct Ended {
  std::string error;  // "" for well
  std::string out;
  wasinn_guest_stats before_close = {}, after_close = {};
};

class HostileComponentHost : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Host> host = Host::Create({}, [](LogLevel, const char*) {});
    ASSERT_TRUE(host) << host.status().message();
    host_ = std::make_unique<Host>(std::move(*host));
    ModelOptions digits;
    digits.path = DigitsPath();
    ASSERT_TRUE(host_->AddModel("digits", digits).ok());
    engine_.reset(wasm_engine_new());
    linker_.reset(wasmtime_component_linker_new(engine_.get()));
    ASSERT_TRUE(Status(wasinn_wasmtime_component_link(linker_.get(), host_->get(), GuestOf, nullptr)).ok());
    ASSERT_EQ(Take(wasmtime_component_linker_add_wasip2(linker_.get())), "");
  }

  // Once for each guest, before any thread asks for it.
  void Load(const std::string& guest) {
    const std::string wasm = ReadFile(GuestPath(guest + ".component"));
    wasmtime_component_t* component = nullptr;
    const auto* bytes = reinterpret_cast<const uint8_t*>(wasm.data());
    ASSERT_EQ(Take(wasmtime_component_new(engine_.get(), bytes, wasm.size(), &component)), "");
    Program& program = programs_[guest];
    wasinn_wasmtime_component_pre* pre = nullptr;
    ASSERT_EQ(Take(wasinn_wasmtime_component_pre_new(linker_.get(), component, &pre)), "");
    program.pre.reset(pre);
    const Export interface(wasmtime_component_get_export_index(component, nullptr, "wasi:cli/run@0.2.0", 18));
    program.run.reset(wasmtime_component_get_export_index(component, interface.get(), "run", 3));
    wasmtime_component_delete(component);
  }

  Ended Run(const std::string& program, const std::vector<std::string>& args) {
    Ended ended;
    const TempFolder folder;
    Result<Guest> guest = Guest::Create(*host_);
    EXPECT_TRUE(guest) << guest.status().message();
    const Owned<wasmtime_store_t, wasmtime_store_delete> store(
        wasmtime_store_new(engine_.get(), guest->get(), nullptr));
    wasmtime_context_t* context = wasmtime_store_context(store.get());
    const std::string output = (folder.path() / "out").string();
    EXPECT_EQ(Take(wasmtime_context_set_wasi(context, Wasi(program, args, output))), "");
    wasinn_wasmtime_component_set_up(context, guest->get());
    ended.error = RunIn(context, programs_.at(program));
    ended.before_close = Statistics(*guest);
    guest->Close();
    ended.after_close = Statistics(*guest);
    ended.out = ReadFile(output);
    return ended;
  }

 private:
  using Export = Owned<wasmtime_component_export_index_t, wasmtime_component_export_index_delete>;
  struct Program {
    Owned<wasinn_wasmtime_component_pre, wasinn_wasmtime_component_pre_delete> pre;
    Export run;
  };

  static wasi_config_t* Wasi(const std::string& program, const std::vector<std::string>& args,
                             const std::string& output) {
    wasi_config_t* wasi = wasi_config_new();
    std::vector<const char*> argv = {program.c_str()};
    for (const std::string& arg : args) argv.push_back(arg.c_str());
    wasi_config_set_argv(wasi, argv.size(), argv.data());
    wasi_config_set_stdout_file(wasi, output.c_str());
    return wasi;
  }

  static wasinn_guest_stats Statistics(const Guest& guest) {
    wasinn_guest_stats stats = {.struct_size = sizeof(stats)};
    wasinn_guest_statistics(guest.get(), &stats);
    return stats;
  }

  static std::string RunIn(wasmtime_context_t* context, const Program& program) {
    wasmtime_component_instance_t instance;
    std::string error = Take(wasinn_wasmtime_component_pre_instantiate(program.pre.get(), context, &instance));
    wasmtime_component_func_t run;
    if (!error.empty()) return error;
    if (!wasmtime_component_instance_get_func(&instance, context, program.run.get(), &run)) return "no run";
    wasmtime_component_val_t result = {};
    error = Take(wasmtime_component_func_call(&run, context, nullptr, 0, &result, 1));
    if (error.empty()) wasmtime_component_val_delete(&result);
    return error;
  }

  std::unique_ptr<Host> host_;
  Owned<wasm_engine_t, wasm_engine_delete> engine_;
  Owned<wasmtime_component_linker_t, wasmtime_component_linker_delete> linker_;
  std::map<std::string, Program> programs_;
};

void ExpectNothingHeld(const wasinn_guest_stats& stats, const std::string& what) {
  EXPECT_EQ(stats.graphs, 0u) << what;
  EXPECT_EQ(stats.contexts, 0u) << what;
  EXPECT_EQ(stats.tensors, 0u) << what;
  EXPECT_EQ(stats.error_objects, 0u) << what;
  EXPECT_EQ(stats.tensor_bytes, 0u) << what;
  EXPECT_EQ(stats.model_bytes, 0u) << what;
}

// Each holds a tensor of a mebibyte and eleven contexts when it traps.
TEST_F(HostileComponentHost, TrapsLeaveNothingBehind) {
  Load("handles");
  for (const char* how : {"twice", "after-compute", "after-failed-compute", "drop-twice", "dead-graph", "dead-error",
                          "forged", "graph-as-input", "no-utf8-input", "inputs-outside", "result-outside"}) {
    const Ended ended = Run("handles", {how});
    EXPECT_TRUE(HasInOrder(ended.error, {"wasm backtrace"})) << how << ": " << ended.error;
    EXPECT_GE(ended.before_close.contexts, 11u) << how;
    EXPECT_GE(ended.before_close.tensors, 1u) << how;
    EXPECT_GE(ended.before_close.tensor_bytes, 1u << 20) << how;
    ExpectNothingHeld(ended.after_close, how);
    EXPECT_EQ(ended.out, std::string(kHonest) + "\n") << how;
  }
}

TEST_F(HostileComponentHost, GuestsThatNeverDropLeaveNothingBehind) {
  Load("quotas");
  for (const char* what : {"graphs", "contexts", "outputs", "tensors", "bytes", "errors"}) {
    ExpectNothingHeld(Run("quotas", {what}).after_close, what);
  }
}

TEST_F(HostileComponentHost, AnHonestGuestBesideHostileOnes) {
  for (const char* program : {"drops", "handles", "lists", "quotas", "tensors"}) Load(program);
  Ended honest;
  std::thread other([&] { honest = Run("quotas", {"nothing"}); });
  for (const auto& [program, arg] : std::vector<std::pair<std::string, std::string>>{{"handles", "twice"},
                                                                                     {"tensors", ""},
                                                                                     {"quotas", "tensors"},
                                                                                     {"handles", "forged"},
                                                                                     {"lists", ""},
                                                                                     {"quotas", "outputs"},
                                                                                     {"drops", ""}}) {
    const Ended ended = Run(program, arg.empty() ? std::vector<std::string>{} : std::vector<std::string>{arg});
    EXPECT_TRUE(ended.out.starts_with(kHonest) || ended.out.ends_with(std::string(kHonest) + "\n")) << ended.out;
  }
  other.join();
  EXPECT_EQ(honest.error, "");
  EXPECT_EQ(honest.out, std::string(kHonest) + "\nnothing: 10000 success 0 too_large 10000 other\n" + kHonest + "\n");
}

}  // namespace
}  // namespace wasinn::testing
