// WAMR's functions, out of the program that this library was loaded into.
#pragma once

#include <string>

namespace wasinn::iwasm {

// Looks for all that the adapter calls. Returns what is missing, "" if nothing is.
std::string FindWamr();

}  // namespace wasinn::iwasm
