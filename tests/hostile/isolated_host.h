// A host with the frameworks of this build, whose guests have no engine: what they bring runs in workers.
#pragma once

#include <wasinn/wasinn.h>

#include <wasinn/wasinn.hpp>

#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

class IsolatedHost {
 public:
  // `toml`: further configuration. The host names the model "digits" itself; it runs in this process.
  explicit IsolatedHost(const std::string& toml = "");

  wasinn_host* get() const { return host_->get(); }
  // Its log since the last call.
  std::vector<std::string> TakeLog();

 private:
  std::mutex mutex_;  // of the log
  std::vector<std::string> log_;
  std::unique_ptr<Host> host_;
};

struct Input {
  std::vector<uint32_t> dims;
  uint8_t type;
  std::string bytes;
};

// A model as a guest brings it, and what it computes it on.
struct Brought {
  uint32_t encoding = 0;
  std::vector<std::string> parts;
  std::vector<Input> inputs;
};

// An image of a two for the models of digits.
Input Two();

// How far a guest got: the function that failed, or "output" and what the model gave.
struct Attempt {
  const char* function = "";
  uint32_t error = 0;
  std::string output;
};

// A guest that brings models.
class Bringer {
 public:
  // `bytes`: of memory, MemoryFor the largest of its models.
  Bringer(wasinn_host* host, size_t bytes, const wasinn_guest_options* options = nullptr)
      : guest_(NewGuest(host, options)), calls_(guest_.get(), bytes) {}

  // Frees all that it got.
  Attempt Try(const Brought& model);
  // As the host closes its guests; what it holds then is to be none.
  wasinn_statistics Close();

 private:
  uint32_t Load(const Brought& model, uint32_t* graph);
  Attempt Infer(const Brought& model, uint32_t graph);
  Attempt Compute(const Brought& model, uint32_t context);

  GuestPtr guest_;
  FakeGuest calls_;
};

// The bytes of memory that a guest needs for one attempt with such a model.
size_t MemoryFor(const Brought& model);

}  // namespace wasinn::testing
