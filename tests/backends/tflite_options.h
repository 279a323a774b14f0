// How the driver loads models of TensorFlow Lite: a guest's bytes, unless `path` says otherwise.
#pragma once

#include <string>

#include "backends/test_host.h"
#include "support/this_build.h"

namespace wasinn::test {

inline LoadOptions TfLiteOptions(const std::string& path = "") {
  return {.encoding = "tensorflowlite", .keeps_bytes = true, .path = path};
}

// Configuration with the tests' own delegate, with more options as JSON.
inline std::string WithDelegate(const std::string& more = "", const std::string& beside = "") {
  return R"({"delegates": [{"name": "adder", "library": ")" + testing::InThisBuild("lib/libtflite_test_delegate.so") +
         "\"" + (more.empty() ? "" : ", " + more) + "}]" + (beside.empty() ? "" : ", " + beside) + "}";
}

}  // namespace wasinn::test
