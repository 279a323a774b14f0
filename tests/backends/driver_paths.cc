#include "backends/driver_paths.h"

namespace wasinn::test {

const char* const kBackend = WASINN_TEST_BACKEND;
const char* const kModels = WASINN_TEST_MODELS;

}  // namespace wasinn::test
