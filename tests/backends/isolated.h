// Models that guests bring as bytes, in workers: whatever they do to their framework costs that guest an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check/driver.h"

namespace wasinn::test {

// By the numbers of witx.
enum class Encoding : uint32_t { kOpenVino, kOnnx, kTensorFlow, kPyTorch, kTfLite, kGgml };

// A guest's model, and its inputs.
struct Brought {
  std::string name;
  std::vector<std::string> builders;
  std::vector<check::Tensor> inputs;
};

class Workers {
 public:
  // In addition to all others, a guest has the model `honest`, in a worker of its own. `settings`: more of the host's,
  // in TOML, of no table.
  Workers(Encoding encoding, const Brought& honest, const std::string& settings = "");
  ~Workers();

  // A guest loads the model and computes it, as far as it gets: the number of the first error, 0 for none. It has little
  // time, unless it is to have all that it needs.
  enum class Time : bool { kLittle, kAll };
  uint32_t Try(const Brought& model, Time time = Time::kLittle);
  // As above; the honest guest must go on as before.
  uint32_t TryBesideHonest(const Brought& model, Time time = Time::kLittle);
  // Models of which each is a little wrong; a guest tries several.
  void TryVariants(int count, const std::function<Brought()>& make);
  // The same model again and again, with bytes at random places of the first blob changed: from what they are and a random
  // number.
  void TryDamaged(int count, const Brought& good, const std::function<char(char byte, uint32_t random)>& change,
                  int changes = 1);
  void ExpectHonest();

  // Workers that have ended under a model.
  size_t lost() const;
  // The host's log about guests' errors.
  std::string log() const;

 private:
  struct Guest;

  struct Hosted;
  const std::unique_ptr<Hosted> hosted_;
  std::mt19937 random_{1};  // the same each time
};

}  // namespace wasinn::test
