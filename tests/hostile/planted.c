/* What a guest would have the host open: a library that leaves a mark when it is. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void LeaveMark(void) {
  const char* mark = getenv("WASINN_TEST_MARK");
  if (mark != NULL) close(open(mark, O_CREAT | O_WRONLY, 0600));
}
