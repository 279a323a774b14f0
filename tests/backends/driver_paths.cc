// The part of the driver that differs from one framework's tests to another's.
#include "backends/driver.h"

namespace wasinn::test {

const char* const kBackend = WASINN_TEST_BACKEND;
const char* const kModels = WASINN_TEST_MODELS;

}  // namespace wasinn::test
