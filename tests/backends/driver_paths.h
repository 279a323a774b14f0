// The part of the driver that differs from one framework's tests to another's.
#pragma once

namespace wasinn::test {

extern const char* const kFramework;  // of the backend that is driven
extern const char* const kModels;     // the folder of ModelPath, in the sources

}  // namespace wasinn::test
