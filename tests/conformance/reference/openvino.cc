#include "backends/openvino_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  const auto openvino = std::make_shared<test::NativeOpenVino>();
  const std::shared_ptr<test::NativeOpenVino::Compiled> model = openvino->Load(path);
  return [openvino, model](const auto& inputs) { return model->Run(inputs); };
}

}  // namespace wasinn::testing
