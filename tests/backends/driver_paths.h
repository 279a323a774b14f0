// The part of the driver that differs from one framework's tests to another's.
#pragma once

namespace wasinn::test {

extern const char* const kBackend;  // the backend's library
extern const char* const kModels;   // the folder of ModelPath

}  // namespace wasinn::test
