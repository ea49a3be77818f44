"""The C of errors that the runtimes of all devices share: a problem ends the program, or returns to its caller."""

ERRORS = r'''#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t polysched_device_building = PTHREAD_MUTEX_INITIALIZER;
static __thread int polysched_device_holds;
/* Where an error returns to, for callers that survive one; without it the program ends. */
static __thread jmp_buf *polysched_device_caller;
static __thread char polysched_device_problem[1 << 14];
static void polysched_device_fail(void) {
  if (polysched_device_holds) pthread_mutex_unlock(&polysched_device_building);
  polysched_device_holds = 0;
  if (polysched_device_caller) longjmp(*polysched_device_caller, 1);
  fprintf(stderr, "polysched: %s\n", polysched_device_problem);
  exit(1);
}
static inline void polysched_device_refuse(const char *what) {
  snprintf(polysched_device_problem, sizeof polysched_device_problem, "%s", what);
  polysched_device_fail();
}
'''
