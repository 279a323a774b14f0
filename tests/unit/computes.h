// Programs of core modules that begin computes, on models that wait at a gate.
#pragma once

#include "api/objects.h"
#include "core/inference/scheduler.h"
#include "support/gate.h"
#include "support/test.h"
#include "unit/begun_calls.h"
#include "unit/pipeline_host.h"

namespace wasinn::testing {

inline constexpr uint32_t kForEver = UINT32_MAX;
inline constexpr char kHostsTurns[] = "turns 0\n";

struct ComputesProgram : BegunProgram {
  using BegunProgram::BegunProgram;
  uint32_t Begin(uint32_t context) { return Call("wasinn_ext_0.compute_begin", {context}); }
  uint32_t Poll(uint32_t context) { return Call("wasinn_ext_0.compute_poll", {context}); }
  uint32_t Cancel(uint32_t context) { return Call("wasinn_ext_0.compute_cancel", {context}); }
  uint32_t Wait(const std::vector<uint32_t>& contexts, uint32_t ms, uint32_t* index) {
    const uint32_t list = PutAll(contexts), out = Reserve(4);
    const uint32_t error = Call("wasinn_ext_0.compute_wait", {list, contexts.size(), ms, out});
    *index = Read<uint32_t>(out);
    return error;
  }
  // The end of one.
  uint32_t Await(uint32_t context) {
    uint32_t index = 7;
    EXPECT_EQ(Wait({context}, kForEver, &index), kSuccess) << LastError();
    EXPECT_EQ(index, 0u);
    return Poll(context);
  }
};

class ComputesTest : public PipelineTest {
 protected:
  ComputesTest() {
    // Pipelines take no turns, and have no function that needs no thread.
    Model("step", "in x f32 1\n" + gate_.Compute());
    Pipeline("needs_no_turn", "{model_name = 'step', input_map = {x = 'x'}, output_map = {x = 'x_out'}}");
    Open("max_computes = 2\n");
  }
  void Open(const std::string& settings) {
    host_ = Host("call_threads = 1\nlimits.compute_timeout_ms = 0\n" + settings);
    AddModels();
  }
  void AddModels() {
    Add("at_once", "");
    Add("in_turn", kHostsTurns);
    Add("waits", kHostsTurns + gate_.Compute());
    Add("waits_alone", "turns 1\n" + gate_.Compute());
    Add("waits_elsewhere", "async later\n" + gate_.Compute());
  }
  void Add(const char* model, const std::string& lines) { AddEchoModel(host_.get(), model, "in x f32 1\n" + lines); }
  const core::Scheduler& scheduler() const { return host_->host->scheduler(); }
  void AwaitWaiting(size_t count) const {
    while (scheduler().waiting() != count) std::this_thread::yield();
  }

  const Gate gate_;
  HostPtr host_;
};

}  // namespace wasinn::testing
