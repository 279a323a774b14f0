// Models of OpenVINO that end, stop or fill who computes them.
#pragma once

#include <string>
#include <vector>

namespace wasinn::testing {

// The least integer divided by -1, which OpenVINO does when it compiles the model.
std::vector<std::string> DividesOnOpenVino();

// The model tests/models/openvino/loop, of these files, with a number of rounds that never comes to its end.
std::vector<std::string> EndlessLoopOnOpenVino(std::string xml, std::string weights);

}  // namespace wasinn::testing
