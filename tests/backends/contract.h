// What backend.h promises, tested on every backend alike: tests/backends/contract_*.cc has the tests, and a backend's
// test program says what they run on, and instantiates them.
#ifndef WASINN_TESTS_BACKENDS_CONTRACT_H_
#define WASINN_TESTS_BACKENDS_CONTRACT_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "backends/driver.h"
#include "backends/lent.h"

namespace wasinn::test {

// An input or an output as a model's info tells it.
struct Port {
  std::string name;
  wasinn_dtype dtype = WASINN_F32;
  std::vector<int64_t> dims = {2, 2};
  bool any_rank = false;
  uint32_t flags = 0;
};

// A model, and what is to be expected of it.
struct Subject {
  std::string name;
  std::function<std::string()> bytes;
  LoadOptions options;
  std::vector<Port> inputs, outputs;
  // Inputs that the model takes; variants differ in bytes alone. By default floats of dims [rows, 2].
  std::function<std::vector<Tensor>(int variant, int64_t rows)> make_inputs;
  // The first outputs of a compute. Without it they are what a fresh context says.
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> compute;
  // Which of the optional functions there are.
  bool takes_outputs = true, wants_outputs = false, discards_outputs = true, generates = false;
  // What the core has checked it checks again.
  bool checks_inputs = true;
  // A compute is held to max_bytes.
  bool has_limits = true;
};

inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
inline std::string NameOfSubject(const ::testing::TestParamInfo<Subject>& info) { return info.param.name; }

// The difference and the sum of two inputs, and the inputs themselves, as most subjects compute them.
std::vector<Tensor> DifferenceAndSum(const std::vector<Tensor>& inputs);
std::vector<Tensor> InputsThemselves(const std::vector<Tensor>& inputs);

class Contract : public ::testing::TestWithParam<Subject> {
 protected:
  // The framework is opened once for all tests of a suite, and each subject loaded once.
  static void TearDownTestSuite();
  Contract();
  void SetUp() override;
  // Whatever contexts kept was given back with them.
  void TearDown() override { EXPECT_EQ(account_.used, 0u); }

  const Subject& subject() const { return GetParam(); }
  const Host& host() const { return *host_; }
  const wasinn_backend& table() const { return host_->table(); }
  const Model& model() const { return *model_; }
  uint32_t n_inputs() const { return static_cast<uint32_t>(subject().inputs.size()); }

  std::vector<Tensor> Inputs(int variant, int64_t rows = 2) const;
  const std::vector<Tensor>& Expected(const std::vector<Tensor>& inputs) const;

  static void Set(Context* context, const std::vector<Tensor>& inputs);
  // The memory must outlive what the context does with it.
  static void Bind(Context* context, const std::vector<std::unique_ptr<Lent>>& lent);
  static std::vector<std::unique_ptr<Lent>> Lend(const std::vector<Tensor>& inputs);
  static void ExpectShows(Context* context, const std::vector<Tensor>& outputs);
  void ExpectComputes(Context* context, const std::vector<Tensor>& inputs) const;
  // That it does not compute for want of input `index`, which it names, and has no output.
  void ExpectLacks(Context* context, uint32_t index) const;
  void ExpectNoOutput(Context* context) const;

  Account account_;

 private:
  static std::unique_ptr<Host> host_;
  static std::map<std::string, std::unique_ptr<Model>> models_;
  static std::map<std::string, std::vector<Tensor>> expected_;  // for the bytes of all inputs
  const Model* model_ = nullptr;
};

// The same, for subjects of which any number of rows can be set.
class ContractOfShapes : public Contract {};

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_CONTRACT_H_
