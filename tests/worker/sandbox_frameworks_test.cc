// Each framework behind the wall: what it computed before it computes again, from other bytes, with the system calls that are left.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "check/driver.h"
#include "check/failures.h"
#include "check/subject_of.h"
#include "worker/child.h"
#include "worker/frameworks.h"
#include "worker/sandbox.h"

namespace wasinn::test {
namespace {

using worker::Sandbox;
using worker::Wall;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

// What is wrong ends the child.
void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  std::exit(1);
}

class Worker {
 public:
  Worker(const Framework& framework, uint32_t threads, const Wall& wall)
      : framework_(framework),
        status_("/proc/self/status"),
        sandbox_(Raise(wall)),
        host_("{}", threads, framework.backend) {
    check::TellFailuresTo([](const char*, int, const std::string& text) { Require(false, text); });
    Require(static_cast<bool>(host_.opened()), host_.opened().message);
    for (const std::string& part : framework.parts) parts_.push_back(check::ReadFile(part));
  }

  // Loads the model from copies of its bytes, as a guest's, and computes it.
  std::vector<check::Tensor> Compute() const {
    auto subject = check::SubjectOf(host_, {parts_, framework_.format, framework_.shapes, framework_.model_config});
    Require(subject.has_value(), subject.has_value() ? "" : subject.error());
    const check::Model model(host_, parts_.front(), subject->options);
    Require(static_cast<bool>(model.loaded()), model.loaded().message);
    check::Context context(model);
    const std::vector<check::Tensor> inputs = subject->make_inputs(0, 0);
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if ((subject->inputs[i].flags & WASINN_IO_OPTIONAL) == 0) context.Set(i, inputs[i]);
    }
    const check::Result computed = context.Compute();
    Require(static_cast<bool>(computed), computed.message);
    std::vector<check::Tensor> outputs(subject->outputs.size());
    for (uint32_t i = 0; i < outputs.size(); ++i) Require(static_cast<bool>(context.Get(i, &outputs[i])), "no output");
    return outputs;
  }

  // That half a model is refused with words.
  void ExpectsWholeModels() const {
    const std::string half = parts_.front().substr(0, parts_.front().size() / 2);
    check::LoadOptions options = {
        .encoding = framework_.format, .more_bytes = {parts_.begin() + 1, parts_.end()}, .keeps_bytes = true};
    const check::Model model(host_, half, options);
    Require(!model.loaded(), "half a model was loaded");
    std::printf("half a model: %s\n", model.loaded().message.c_str());
  }

  void Seal() {
    const auto sealed = sandbox_.Seal(512 * kMebibyte);
    Require(sealed.has_value(), sealed.has_value() ? "" : sealed.error());
  }

  int CountThreads() {
    status_.seekg(0);
    for (std::string word; status_ >> word;) {
      if (word == "Threads:" && status_ >> word) return std::stoi(word);
    }
    return 0;
  }

 private:
  static Sandbox Raise(const Wall& wall) {
    auto raised = Sandbox::RaiseBeforeThreads(wall);
    Require(raised.has_value(), raised.has_value() ? "" : raised.error());
    return *std::move(raised);
  }

  const Framework& framework_;
  std::ifstream status_;
  Sandbox sandbox_;
  check::Host host_;
  std::vector<std::string> parts_;
};

bool Same(const std::vector<check::Tensor>& one, const std::vector<check::Tensor>& other) {
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i].dtype != other[i].dtype || one[i].dims != other[i].dims || one[i].bytes != other[i].bytes) return false;
  }
  return true;
}

Wall WallFor(const Framework& framework) {
  Wall wall = worker::WallOf(framework.name);
  wall.readable = {"/"};
  return wall;
}

class SandboxFrameworks : public ::testing::TestWithParam<std::tuple<Framework, uint32_t>> {};

TEST_P(SandboxFrameworks, ComputeBehindTheWall) {
  const auto& [framework, threads] = GetParam();
  const Ended ended = InChild([&] {
    Worker worker(framework, threads, WallFor(framework));
    const auto before = worker.Compute();
    std::printf("%d threads\n", worker.CountThreads());
    worker.Seal();
    Require(Same(before, worker.Compute()), "another result behind the wall");
    if (framework.refuses_halves) worker.ExpectsWholeModels();
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  std::cout << ended << '\n';
}

INSTANTIATE_TEST_SUITE_P(, SandboxFrameworks,
                         ::testing::Combine(::testing::ValuesIn(Frameworks()), ::testing::Values(1, 2)),
                         [](const auto& one) {
                           const Framework& framework = std::get<0>(one.param);
                           return framework.name + "_" + framework.format + "_" +
                                  std::to_string(std::get<1>(one.param));
                         });

}  // namespace
}  // namespace wasinn::test
