#include "tflite/tflite_library.h"

namespace wasinn::tflite {

namespace {

// The C API's library, as TensorFlow's build and Debian call it; the one in the Java binding has it, too.
constexpr const char* kLibraryNames[] = {"libtensorflowlite_c.so", "libtensorflow-lite.so", "libjnitensorflowlite.so"};

}  // namespace

TfLiteLibrary::TfLiteLibrary(const std::string& configured)
    : library_({.framework = "TensorFlow Lite",
                .install = "scripts/deps.sh tflite",
                .names = kLibraryNames,
                .configured = configured}) {}

}  // namespace wasinn::tflite
