/* Where WAMR's messages go: to stderr, for stdout is the guest's. */
#include <stdarg.h>
#include <stdio.h>

int wamr_print(const char* format, va_list args) { return vfprintf(stderr, format, args); }
