#include "hostile/tflite_killers.h"

#include "backends/tflite_writer.h"

namespace wasinn::testing {

std::string EndlessTfLite() { return test::WriteTfLite({test::Loop(1, 2), test::kAlways, test::kGoOn}); }

}  // namespace wasinn::testing
