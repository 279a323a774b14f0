#include "worker/backend.h"

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "check/failures.h"

namespace wasinn::test {

void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

Bytes::Bytes(const Model& model)
    : options_{.parts = {}, .format = model.format, .shapes = model.shapes, .config = model.config},
      texts_(model.texts) {
  for (const std::string& part : model.parts) options_.parts.push_back(check::ReadFile(part));
}

check::Subject Bytes::Subject(const check::Host& host) const {
  check::Subject subject = Required(check::SubjectOf(host, options_));
  if (texts_.empty()) return subject;
  // The first inputs are texts, the others what the check makes.
  subject.make_inputs = [texts = texts_, make = subject.make_inputs](int variant, int64_t rows) {
    std::vector<check::Tensor> inputs = make(variant, rows);
    const auto& given = texts[static_cast<size_t>(variant) % texts.size()];
    for (size_t i = 0; i < given.size(); ++i) {
      inputs[i] = {WASINN_DTYPE_U8, {static_cast<int64_t>(given[i].size())}, given[i]};
    }
    return inputs;
  };
  return subject;
}

Backend::Backend(const std::string& library, uint32_t threads) : host_("{}", threads, library) {
  check::OnFailure([](const char* file, int line, const std::string& text) {
    Require(false, std::string(file) + ":" + std::to_string(line) + ": " + text);
  });
  check::OnNothingToCheck([](const std::string&) {});
  Require(static_cast<bool>(host_.opened()), host_.opened().message);
}

size_t Backend::Compute(const Bytes& bytes) const {
  const check::Subject subject = bytes.Subject(host_);
  const check::Model model(host_, bytes.options().parts.front(), subject.options);
  Require(static_cast<bool>(model.loaded()), model.loaded().message);
  check::Context context(model);
  const std::vector<check::Tensor> inputs = subject.make_inputs(kOwnVariant, 0);
  for (uint32_t i = 0; i < inputs.size(); ++i) context.Set(i, inputs[i]);
  const check::Result computed = context.Compute();
  Require(static_cast<bool>(computed), computed.message);
  check::Tensor output;
  const check::Result got = context.Get(0, &output);
  Require(static_cast<bool>(got) && !output.bytes.empty(), "no output: " + got.message);
  return std::hash<std::string>()(output.bytes);
}

}  // namespace wasinn::test
