// A library that is like a framework's, for the tests: it has a function that the program has, too, and writes to a stream of the standard library.
#pragma once

#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
int wasinn_test_own_symbol();
// Returns wasinn_test_own_symbol(), as the library itself sees it.
int wasinn_test_answer();
void wasinn_test_write(const char* text);
// The number of a facet of the standard library, as the library sees it.
size_t wasinn_test_facet();
}
#pragma GCC visibility pop
