// The promises of backend.h as checks, the same for every backend: for tests/backends, and for `wasinn check-backend`.
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

// An input or an output in a model's info.
struct Port {
  std::string name;
  wasinn_dtype dtype = WASINN_DTYPE_F32;
  std::vector<int64_t> dims = {2, 2};
  bool any_rank = false;
  uint32_t flags = 0;
};

// A model, and its expected behaviour.
struct Subject {
  std::string name;
  std::function<std::string()> bytes;
  LoadOptions options;
  std::vector<Port> inputs, outputs;
  // Inputs that the model takes; variants only differ in bytes. By default floats of dims [rows, 2].
  std::function<std::vector<Tensor>(int variant, int64_t rows)> make_inputs;
  // The first outputs of a compute. Without it, a fresh context computes them.
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> compute;
  // The optional functions that the backend has.
  bool takes_outputs = true, discards_outputs = true, generates = false, cancels = true;
  // Unwanted outputs are not made. No value: unknown.
  std::optional<bool> wants_outputs = false;
  uint32_t bindable = 0;  // the number of such outputs
  bool shares_slots = false;
  // The backend checks again what the core has checked.
  bool checks_inputs = true;
  // max_bytes limits a compute.
  bool has_limits = true;
};

inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
// The difference and the sum of two inputs, and the inputs themselves: the outputs of most subjects.
std::vector<Tensor> DifferenceAndSum(const std::vector<Tensor>& inputs);
std::vector<Tensor> InputsThemselves(const std::vector<Tensor>& inputs);

// A backend that is opened once, and a subject that is loaded once, for all checks.
class Session {
 public:
  // A failure to open or load has the framework's messages. `host` must outlive this.
  Session(const Host& host, Subject subject) : host_(host), subject_(std::move(subject)) {}

  const Host& host() const { return host_; }
  const Subject& subject() const { return subject_; }
  // NULL: it cannot be loaded, which is reported as a failure.
  const Model* model();
  // The outputs of a fresh context for these inputs, if the subject has none.
  const std::vector<Tensor>& Expected(const std::vector<Tensor>& inputs);

 private:
  const Host& host_;
  const Subject subject_;
  std::unique_ptr<Model> model_;
  using Key = std::vector<std::tuple<wasinn_dtype, std::vector<int64_t>, std::string>>;  // the content of all inputs
  std::map<Key, std::vector<Tensor>> expected_;
};

// One promise of the contract. A broken one is reported (failures.h).
struct Check {
  const char* name;     // "InputsStayUntilTheyAreSetAgain"
  const char* expects;  // the promise in words
  void (*run)(Session& session);
};
// For all subjects, and for those with any number of rows.
const std::vector<Check>& Checks();
const std::vector<Check>& ChecksOfShapes();

}  // namespace wasinn::check

#endif  // WASINN_CHECK_CONTRACT_H_
