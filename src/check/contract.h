// What backend.h promises, checked on every backend alike: by tests/backends, and by `wasinn check-backend`.
#ifndef WASINN_CHECK_CONTRACT_H_
#define WASINN_CHECK_CONTRACT_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/borrowed.h"
#include "check/driver.h"

namespace wasinn::check {

// An input or an output as a model's info tells it.
struct Port {
  std::string name;
  wasinn_dtype dtype = WASINN_DTYPE_F32;
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
  bool takes_outputs = true, discards_outputs = true, generates = false, cancels = true;
  // Outputs that are not wanted are not made. Nothing: nobody knows.
  std::optional<bool> wants_outputs = false;
  uint32_t bindable = 0;  // so many outputs
  bool shares_slots = false;
  // What the core has checked it checks again.
  bool checks_inputs = true;
  // A compute is held to max_bytes.
  bool has_limits = true;
};

inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
// The difference and the sum of two inputs, and the inputs themselves, as most subjects compute them.
std::vector<Tensor> DifferenceAndSum(const std::vector<Tensor>& inputs);
std::vector<Tensor> InputsThemselves(const std::vector<Tensor>& inputs);

// A backend that is opened once, and a subject that is loaded once, for all checks.
class Session {
 public:
  // With the framework's messages for who cannot open it or load it. `host` must live as long as this.
  Session(const Host& host, Subject subject) : host_(host), subject_(std::move(subject)) {}

  const Host& host() const { return host_; }
  const Subject& subject() const { return subject_; }
  // NULL: it cannot be loaded, which is told as a failure.
  const Model* model();
  // What a fresh context says of these inputs, where the subject does not.
  const std::vector<Tensor>& Expected(const std::vector<Tensor>& inputs);

 private:
  const Host& host_;
  const Subject subject_;
  std::unique_ptr<Model> model_;
  using Key = std::vector<std::tuple<wasinn_dtype, std::vector<int64_t>, std::string>>;  // all that inputs are
  std::map<Key, std::vector<Tensor>> expected_;
};

// One promise of the contract. What does not hold is told (failures.h).
struct Check {
  const char* name;     // "InputsStayUntilTheyAreSetAgain"
  const char* expects;  // in words
  void (*run)(Session& session);
};
// For all subjects, and for those of which any number of rows can be set.
const std::vector<Check>& Checks();
const std::vector<Check>& ChecksOfShapes();

}  // namespace wasinn::check

#endif  // WASINN_CHECK_CONTRACT_H_
