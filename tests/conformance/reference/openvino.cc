#include "backends/openvino_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const std::string&, const std::string&) {
  const auto openvino = std::make_shared<test::NativeOpenVino>();
  const std::shared_ptr<test::NativeOpenVino::Compiled> model = openvino->Load(path);
  return [openvino, model](const test::Tensor& input) { return model->Run({input}).at(0).bytes; };
}

}  // namespace wasinn::testing
