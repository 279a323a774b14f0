// Preloaded into a command under test: it may have NO_THREADS_OVER threads besides its first at once, and does not get
// another, as under a limit on the number of a container's processes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void* (*routine)(void*);
typedef int (*create)(pthread_t*, const pthread_attr_t*, routine, void*);

typedef struct {
  routine function;
  void* argument;
} start;

static atomic_long alive;

static void ended(void* ignored) {
  (void)ignored;
  atomic_fetch_sub(&alive, 1);
}

static void* run(void* argument) {
  const start it = *(start*)argument;
  free(argument);
  void* result = NULL;
  pthread_cleanup_push(ended, NULL);
  result = it.function(it.argument);
  pthread_cleanup_pop(1);
  return result;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          routine function, void* argument) {
  static _Atomic(create) next;
  create real = atomic_load(&next);
  if (real == NULL) {
    *(void**)(&real) = dlsym(RTLD_NEXT, "pthread_create");  // as POSIX has it, for ISO C knows no such conversion
    atomic_store(&next, real);
  }
  const char* most = getenv("NO_THREADS_OVER");
  start* it = malloc(sizeof(start));
  if (it == NULL || (atomic_fetch_add(&alive, 1) >= (most != NULL ? atol(most) : 1 << 20))) {
    if (it != NULL) atomic_fetch_sub(&alive, 1);
    free(it);
    return EAGAIN;
  }
  *it = (start){function, argument};
  const int failed = real(thread, attributes, run, it);
  if (failed != 0) {
    atomic_fetch_sub(&alive, 1);
    free(it);
  }
  return failed;
}
