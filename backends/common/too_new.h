// What is said of a model that its framework is too old for.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::backend {

// `words`: the framework's, with the file's number and, if it is known, the highest that is read. `instead`: what one can
// do with the model, as "export the model again with an older opset".
inline std::string TooNew(std::string words, std::string_view framework, std::string_view version,
                          std::string_view instead) {
  words.append(": the model is newer than ").append(framework).append(" ").append(version);
  return words.append(": use a newer one, or ").append(instead);
}

}  // namespace wasinn::backend
