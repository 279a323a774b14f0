// Pipelines of pipelines: how much work it is to see that they come to an end.
#include "core/pipeline/pipeline_graph.h"
#include "support/test.h"

namespace wasinn::pipeline {
namespace {

using core::ModelSource;

class PipelineNesting : public ::testing::Test {
 protected:
  // A pipeline; what is no pipeline need not be there.
  void Add(const std::string& name, const std::vector<std::string>& steps) {
    auto source = std::make_shared<ModelSource>();
    source->name = name;
    for (const std::string& step : steps) source->pipeline.steps.push_back({step, {}, {}});
    sources_[name] = source;
  }
  // "p1" of two of "p2" each … , as many as `deep`.
  void AddDoubled(size_t deep) {
    for (size_t i = 1; i < deep; ++i) {
      const std::string next = "p" + std::to_string(i + 1);
      Add("p" + std::to_string(i), {next, next});
    }
    Add("p" + std::to_string(deep), {"leaf", "leaf"});
  }
  core::Status Check(const std::string& name) {
    found_ = 0;
    return CheckNesting(*sources_.at(name), [this](const std::string& step) -> std::shared_ptr<const ModelSource> {
      ++found_;
      const auto found = sources_.find(step);
      return found == sources_.end() ? nullptr : found->second;
    });
  }

  std::map<std::string, std::shared_ptr<const ModelSource>> sources_;
  size_t found_ = 0;  // how many steps were looked up
};

TEST_F(PipelineNesting, EachStepIsLookedAtOnce) {
  AddDoubled(kDeepest);
  EXPECT_TRUE(Check("p1").ok());
  EXPECT_EQ(found_, 2 * kDeepest);
}

TEST_F(PipelineNesting, TooDeepNestingIsReportedOnEachWay) {
  AddDoubled(kDeepest + 1);
  EXPECT_THAT(std::string(Check("p1").message()), HasSubstr("more than 16 pipelines within each other: 'p1' -> 'p2'"));
  EXPECT_TRUE(Check("p2").ok());
  // The height is known already from a shorter path.
  Add("longer", {"p2"});
  Add("both", {"p2", "longer"});
  EXPECT_THAT(std::string(Check("both").message()), HasSubstr("'both' -> 'p2'"));
  Add("other", {"p3", "longer3"});
  Add("longer3", {"p3"});
  EXPECT_THAT(std::string(Check("other").message()), HasSubstr("within each other: 'other' -> 'longer3' -> 'p3'"));
}

TEST_F(PipelineNesting, ACircleIsFoundBehindWhatEnds) {
  Add("ends", {"leaf"});
  Add("a", {"ends", "b"});
  Add("b", {"ends", "leaf", "a"});
  EXPECT_THAT(std::string(Check("a").message()), HasSubstr("it is a step of itself: 'a' -> 'b' -> 'a'"));
  EXPECT_TRUE(Check("ends").ok());
}

}  // namespace
}  // namespace wasinn::pipeline
