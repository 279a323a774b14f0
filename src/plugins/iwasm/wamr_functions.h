// WAMR's functions, taken from the program that loaded this library.
#pragma once

#include <string>

namespace wasinn::iwasm {

// Looks for all functions that the adapter calls. Returns the missing ones, "" if there are none.
std::string FindWamr();

}  // namespace wasinn::iwasm
