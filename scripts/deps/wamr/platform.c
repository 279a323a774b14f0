/* In place of WAMR's platform_init.c, whose messages go to stdout: that is the guest's. */
#include <stdarg.h>
#include <stdio.h>

int bh_platform_init(void) { return 0; }
void bh_platform_destroy(void) {}

int os_vprintf(const char* format, va_list args) { return vfprintf(stderr, format, args); }

int os_printf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int written = os_vprintf(format, args);
  va_end(args);
  return written;
}
