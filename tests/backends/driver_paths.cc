#include "backends/driver_paths.h"

namespace wasinn::test {

const char* const kFramework = WASINN_TEST_FRAMEWORK;
const char* const kModels = WASINN_TEST_MODELS;

}  // namespace wasinn::test
