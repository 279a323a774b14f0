// The WAMR adapter in an embedder's program, with the echo backend: which program is which guest, what guests do to
// their memory, and guests that end. Under ThreadSanitizer too, which sees all but WAMR's own code.
#include <wasinn/wamr.h>

#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kStack = 64 << 10;

// WAMR on this thread, with wasi-nn.
class Runtime {
 public:
  explicit Runtime(wasinn_host* host) {
    Start();
    EXPECT_EQ(wasinn_wamr_register(host, &nn_), nullptr);
  }
  Runtime(wasinn_wamr_guest_of guest_of, void* user) {
    Start();
    EXPECT_EQ(wasinn_wamr_register_guests(guest_of, user, &nn_), nullptr);
  }
  ~Runtime() {
    wasinn_wamr_unregister(nn_);
    wasm_runtime_destroy_context_key(key_);
    wasm_runtime_destroy();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Called once, for the next instance that ends, when its memory is gone and wasi-nn does not know it yet.
  std::function<void()> when_one_ends;

  // The rest of an instance that WAMR missed when wasi-nn looked up the instances of a guest.
  void Forget(wasm_module_inst_t instance) const {
    void* const theirs = static_cast<char*>(key_) + 1;  // WAMR numbers its keys
    EXPECT_NE(wasm_runtime_get_context(instance, theirs), nullptr);
    wasm_runtime_set_context(instance, theirs, nullptr);
  }

 private:
  void Start() {
    RuntimeInitArgs args = {};
    args.mem_alloc_type = Alloc_With_System_Allocator;
    args.max_thread_num = 16;
    ASSERT_TRUE(wasm_runtime_full_init(&args));
    wasm_runtime_set_log_level(WASM_LOG_LEVEL_FATAL);
    the_runtime_ = this;
    key_ = wasm_runtime_create_context_key([](wasm_module_inst_t, void*) {
      if (const auto call = std::exchange(the_runtime_->when_one_ends, nullptr)) call();
    });
  }
  static inline Runtime* the_runtime_ = nullptr;
  void* key_ = nullptr;
  wasinn_wamr* nn_ = nullptr;
};

class Module {
 public:
  explicit Module(const std::string& program) {
    std::ifstream file(GuestFile(program), std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    char error[128] = {};
    module_ = wasm_runtime_load(bytes_.data(), static_cast<uint32_t>(bytes_.size()), error, sizeof error);
    EXPECT_NE(module_, nullptr) << program << ": " << error;
  }
  ~Module() { wasm_runtime_unload(module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  wasm_module_t get() const { return module_; }

 private:
  std::vector<uint8_t> bytes_;
  wasm_module_t module_ = nullptr;
};

class Puppet {
 public:
  explicit Puppet(const Module& module) {
    char error[128] = {};
    instance_ = wasm_runtime_instantiate(module.get(), kStack, 0, error, sizeof error);
    EXPECT_NE(instance_, nullptr) << error;
    env_ = wasm_runtime_create_exec_env(instance_, kStack);
    scratch_ = Call("scratch", {}).value_or(0);
  }
  ~Puppet() {
    wasm_runtime_destroy_exec_env(env_);
    wasm_runtime_deinstantiate(instance_);
  }
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  wasm_module_inst_t instance() const { return instance_; }
  // Nothing if it trapped.
  std::optional<uint32_t> Call(const char* name, std::vector<uint32_t> values) {
    const wasm_function_inst_t function = wasm_runtime_lookup_function(instance_, name);
    const auto count = static_cast<uint32_t>(values.size());
    values.resize(values.size() + 1);
    if (!wasm_runtime_call_wasm(env_, function, count, values.data())) return std::nullopt;
    return values[0];
  }
  uint32_t at(uint32_t offset) const { return scratch_ + offset; }
  uint8_t* Memory(uint32_t offset) {
    const wasm_memory_inst_t memory = wasm_runtime_get_default_memory(instance_);
    return static_cast<uint8_t*>(wasm_memory_get_base_address(memory)) + at(offset);
  }
  uint32_t Read(uint32_t offset) {
    uint32_t value = 0;
    std::memcpy(&value, Memory(offset), sizeof value);
    return value;
  }

  // The errno; the graph is at 64 in the scratch memory.
  std::optional<uint32_t> Load(const std::string& name) {
    std::memcpy(Memory(0), name.data(), name.size());
    return Call("load_by_name", {at(0), static_cast<uint32_t>(name.size()), at(64)});
  }
  // A context of a model, with its input of one f32 set.
  uint32_t NewContext(const std::string& name) {
    EXPECT_EQ(Load(name), kSuccess);
    EXPECT_EQ(Call("init_execution_context", {Read(64), at(68)}), kSuccess);
    const uint32_t context = Read(68);
    const float value = 7;
    const uint32_t words[] = {1, at(100), 1, kF32, at(124), 4};  // a dimension, then the tensor, then its data
    std::memcpy(Memory(100), words, sizeof words);
    std::memcpy(Memory(124), &value, sizeof value);
    EXPECT_EQ(Call("set_input", {context, 0, at(104)}), kSuccess);
    return context;
  }
  float Output(uint32_t context) {
    EXPECT_EQ(Call("get_output", {context, 0, at(200), 4, at(204)}), kSuccess);
    float value = 0;
    std::memcpy(&value, Memory(200), sizeof value);
    return value;
  }

 private:
  wasm_module_inst_t instance_ = nullptr;
  wasm_exec_env_t env_ = nullptr;
  uint32_t scratch_ = 0;
};

class WamrTest : public ::testing::Test {
 protected:
  WamrTest() {
    AddEchoModel(host_.get(), "one", "in x f32 1\n");
    AddEchoModel(host_.get(), "endless", "in x f32 1\n" + gate_.Compute());
    AddEchoModel(host_.get(), "model", "in x f32 2,2\n");
  }

  const Gate gate_;  // never opened
  Log log_;
  const HostPtr host_ = EchoHost(log_, "limits.max_graphs = 20\nlimits.compute_timeout_ms = 0\n");
  Runtime runtime_{host_.get()};
};

TEST_F(WamrTest, RegisterRejectsBadArguments) {
  wasinn_wamr* nn = nullptr;
  for (wasinn_status* status : {wasinn_wamr_register(nullptr, &nn), wasinn_wamr_register(host_.get(), nullptr),
                                wasinn_wamr_register_guests(nullptr, nullptr, &nn)}) {
    EXPECT_EQ(wasinn_status_code(status), WASINN_ERROR_INVALID_ARGUMENT);
    wasinn_status_free(status);
  }
  EXPECT_EQ(nn, nullptr);
  wasinn_wamr_unregister(nullptr);
}

// Instances of one module are guests of their own: numbers of one mean nothing to another, and quotas are each one's.
TEST_F(WamrTest, EachInstanceIsAGuest) {
  const Module module("wamr-puppet");
  Puppet first(module), second(module);
  const uint32_t context = first.NewContext("one");
  EXPECT_EQ(second.Call("compute", {context}), kInvalidArgument);
  EXPECT_EQ(first.Call("compute", {context}), kSuccess);
  EXPECT_EQ(first.Output(context), 7.0f);
  for (int i = 1; i < 20; ++i) EXPECT_EQ(first.Load("one"), kSuccess);
  EXPECT_EQ(first.Load("one"), kTooLarge);
  EXPECT_EQ(second.Load("one"), kSuccess);
}

TEST(WamrOfGuests, TheEmbedderNamesTheGuestOfAnInstance) {
  const LoggedHost host;
  AddEchoModel(host.get(), "one", "in x f32 1\n");
  const GuestPtr guest = NewGuest(host.get());
  struct Known {
    wasm_module_inst_t instance;
    wasinn_guest* guest;
    int asked;
  } known = {nullptr, guest.get(), 0};
  const auto guest_of = [](wasm_module_inst_t instance, void* user) {
    auto* program = static_cast<Known*>(user);
    ++program->asked;
    return instance == program->instance ? program->guest : nullptr;
  };
  const Runtime runtime(guest_of, &known);
  const Module module("wamr-puppet");
  {
    Puppet program(module), stranger(module);
    known.instance = program.instance();
    const uint32_t context = program.NewContext("one");
    EXPECT_EQ(program.Call("compute", {context}), kSuccess);
    EXPECT_EQ(known.asked, 1);
    EXPECT_EQ(stranger.Load("one"), kRuntimeError);
    EXPECT_EQ(StatsOf(guest).computes, 1u);
    wasinn_guest_close(guest.get());
    EXPECT_EQ(program.Call("compute", {context}), kRuntimeError);
  }
}

TEST_F(WamrTest, AModuleWithoutExportedMemory) {
  const Module module("wamr-hidden");
  Puppet program(module);
  EXPECT_EQ(program.Load("one"), kMissingMemory);
}

TEST_F(WamrTest, MemoryThatGrowsBetweenCalls) {
  const Module module("wamr-puppet");
  Puppet program(module);
  const uint32_t context = program.NewContext("one");
  for (int i = 0; i < 20; ++i) {
    const uint32_t pages = program.Call("grow", {1}).value_or(0);
    ASSERT_NE(pages, 0xffffffffu);
    ASSERT_EQ(program.Call("compute", {context}), kSuccess);
    // The new page, and not a byte more.
    const uint32_t end = (pages + 1) * 65536;
    EXPECT_EQ(program.Call("get_output", {context, 0, end - 4, 4, program.at(204)}), kSuccess);
    EXPECT_EQ(program.Call("get_output", {context, 0, end - 3, 4, program.at(204)}), kInvalidArgument);
    EXPECT_EQ(program.Output(context), 7.0f);
  }
}

// There is no deadline: what ends the compute is that its guest was ended.
TEST_F(WamrTest, AGuestThatIsEndedInsideACompute) {
  const Module module("wamr-puppet");
  Puppet program(module);
  const uint32_t context = program.NewContext("endless");
  std::thread killer([&] {
    gate_.Await();
    wasm_runtime_terminate(program.instance());
  });
  EXPECT_EQ(program.Call("compute", {context}), std::nullopt);
  killer.join();
  Puppet next(module);
  EXPECT_EQ(next.Load("one"), kSuccess);
}

// The system lays a new guest where the last one was, as soon as nothing else takes a part of that place.
constexpr int kTriesForAPlace = 100;

// WAMR does not report its end, since it did not know its guest. A new instance at the same address is another guest.
TEST_F(WamrTest, AGuestWhoseEndWasMissedIsNotTheNextOne) {
  const Module module("wamr-shared");
  const uint8_t* place = nullptr;
  uint32_t graph = 0;
  std::optional<Puppet> next;
  for (int i = 0; i < kTriesForAPlace && (!next || next->Memory(0) != place); ++i) {
    next.reset();
    {
      Puppet program(module);
      EXPECT_EQ(program.Load("one"), kSuccess);
      graph = program.Read(64);
      place = program.Memory(0);
      runtime_.Forget(program.instance());
    }
    next.emplace(module);
  }
  ASSERT_EQ(next->Memory(0), place);
  EXPECT_EQ(next->Call("init_execution_context", {graph, next->at(68)}), kInvalidArgument);
  const uint32_t context = next->NewContext("one");
  EXPECT_EQ(next->Call("compute", {context}), kSuccess);
}

// The same while the guest lives: its other instances are found by the place of its memory.
TEST_F(WamrTest, AnInstanceThatWasMissedIsFoundByItsMemory) {
  const Module module("wamr-shared");
  Puppet program(module), stranger(module);
  EXPECT_EQ(program.Load("one"), kSuccess);
  runtime_.Forget(program.instance());
  EXPECT_EQ(program.Call("init_execution_context", {program.Read(64), program.at(68)}), kSuccess);
  EXPECT_EQ(stranger.Call("init_execution_context", {program.Read(64), stranger.at(68)}), kInvalidArgument);
}

// WAMR frees a guest's memory before it says that the guest has ended.
TEST_F(WamrTest, AGuestAtThePlaceOfOneThatIsEnding) {
  const Module module("wamr-shared");
  std::optional<Puppet> first, next;
  const uint8_t* place = nullptr;
  uint32_t endless = 0;
  for (int i = 0; i < kTriesForAPlace && (!next || next->Memory(0) != place); ++i) {
    next.reset();
    first.emplace(module);
    endless = first->NewContext("endless");
    place = first->Memory(0);
    runtime_.when_one_ends = [&] {
      next.emplace(module);
      if (next->Memory(0) == place) {
        EXPECT_EQ(next->Load("one"), kSuccess);
      }
    };
    first.reset();
    ASSERT_TRUE(next);
  }
  ASSERT_EQ(next->Memory(0), place);
  EXPECT_NE(next->Call("compute", {endless}), kSuccess) << "the other's";
  const uint32_t context = next->NewContext("one");
  EXPECT_EQ(next->Call("compute", {context}), kSuccess);
  EXPECT_EQ(next->Output(context), 7.0f);
  next.reset();
  Puppet last(module);
  EXPECT_EQ(last.Load("one"), kSuccess);
}

// Its threads would each have a memory, and be a guest with quotas, of their own.
TEST_F(WamrTest, ThreadsNeedSharedMemory) {
  const Module module("wamr-unshared");
  Puppet program(module);
  EXPECT_EQ(program.Load("one"), kRuntimeError);
}

}  // namespace
}  // namespace wasinn::testing
