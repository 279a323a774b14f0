// A library as a framework is, for the tests: it has a function that the program has, too, and writes to a stream of the standard library.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
int wasinn_test_own_symbol();
// What its wasinn_test_own_symbol() returns to itself.
int wasinn_test_answer();
void wasinn_test_write(const char* text);
}
#pragma GCC visibility pop
