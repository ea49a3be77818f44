"""The C that the runtimes of all devices share: where an error goes, what it gives back, what comes back to arrays.

A region may leave elements of the rows that come back alone: between those that it writes, or where a condition fails.
They may be read-only, or another thread's.  So these rows are copied, the copy goes to the device, and only elements
that differ from it are stored.
"""

from __future__ import annotations

from polysched.emit_gpu.limits import LIMITS

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
/* What a region of this thread has to give back; an error does it for a caller that survives. */
typedef struct polysched_device_owned {
  struct polysched_device_owned *next;
  void (*give)(void *);
  void *what;
} polysched_device_owned;
static __thread polysched_device_owned *polysched_device_all;
static void polysched_device_fail(void) {
  if (polysched_device_holds) pthread_mutex_unlock(&polysched_device_building);
  polysched_device_holds = 0;
  if (polysched_device_caller) {
    while (polysched_device_all) {
      polysched_device_owned *first = polysched_device_all;
      polysched_device_all = first->next;
      first->give(first->what);
      free(first);
    }
    longjmp(*polysched_device_caller, 1);
  }
  fprintf(stderr, "polysched: %s\n", polysched_device_problem);
  exit(1);
}
static inline void polysched_device_refuse(const char *what) {
  snprintf(polysched_device_problem, sizeof polysched_device_problem, "%s", what);
  polysched_device_fail();
}
static inline void polysched_device_own(void *what, void (*give)(void *)) {
  polysched_device_owned *first = malloc(sizeof *first);
  if (!first) {
    give(what);
    polysched_device_refuse("no memory for a note of what is held");
  }
  *first = (polysched_device_owned){polysched_device_all, give, what};
  polysched_device_all = first;
}
static inline void polysched_device_disown(void *what) {
  for (polysched_device_owned **at = &polysched_device_all; *at; at = &(*at)->next)
    if ((*at)->what == what) {
      polysched_device_owned *found = *at;
      *at = found->next;
      free(found);
      return;
    }
}
static inline void *polysched_device_rows(size_t bytes, const char *what) {
  void *rows = malloc(bytes);
  if (!rows) polysched_device_refuse(what);
  polysched_device_own(rows, free);
  return rows;
}
static inline void polysched_device_free_rows(void *rows) {
  polysched_device_disown(rows);
  free(rows);
}
'''
"""A problem ends the program, or returns to its caller."""

CHANGED = r'''/* Rows as they went to the device. */
typedef struct { char *rows; long first, end; } polysched_device_kept;
/* Copies rows to the device, and keeps what went there: another thread may change the host's meanwhile. */
static inline void polysched_device_keep(polysched_device_kept *kept, polysched_device_buffer buffer,
                                         const void *host, long first, long end, long row_elements,
                                         size_t element_bytes) {
  const size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0 || polysched_device_has(buffer, host)) return;
  kept->rows = polysched_device_rows((end - first) * row_bytes, "no memory for what an array was");
  kept->first = first;
  kept->end = end;
  memcpy(kept->rows, (const char *)host + first * row_bytes, (end - first) * row_bytes);
  polysched_device_send(buffer, kept->rows, first * row_bytes, (end - first) * row_bytes);
}
#define POLYSCHED_DEVICE_STORE(type) \
  for (size_t at = 0; at < bytes; at += sizeof(type)) { \
    type was, is; \
    memcpy(&was, before + at, sizeof was); \
    memcpy(&is, after + at, sizeof is); \
    if (is != was) memcpy(host + at, &is, sizeof is); \
  }
static void polysched_device_store(char *host, const char *after, const char *before, size_t bytes, size_t element) {
  if (element == 1) POLYSCHED_DEVICE_STORE(unsigned char)
  else if (element == sizeof(short)) POLYSCHED_DEVICE_STORE(unsigned short)
  else if (element == sizeof(int)) POLYSCHED_DEVICE_STORE(unsigned)
  else if (element == sizeof(long long)) POLYSCHED_DEVICE_STORE(unsigned long long)
  else for (size_t at = 0; at < bytes; at += element)
    if (memcmp(after + at, before + at, element)) memcpy(host + at, after + at, element);
}
/* Copies rows from the device, some at a time; of those that are kept only the elements that changed. */
static inline void polysched_device_read_changed(polysched_device_buffer buffer, void *host,
                                                 const polysched_device_kept *kept, long first, long end,
                                                 long row_elements, size_t element_bytes) {
  const size_t row_bytes = row_elements * element_bytes;
  const long from = kept->first > first ? kept->first : first, to = kept->end < end ? kept->end : end;
  if (first >= end || row_elements <= 0 || polysched_device_has(buffer, host)) return;
  if (from >= to) {
    polysched_device_read(buffer, host, first, end, row_elements, element_bytes);
  } else {
    long some = MOST_BYTES / row_bytes;
    some = some < 1 ? 1 : some < to - from ? some : to - from;
    char *rows = polysched_device_rows(some * row_bytes, "no memory for rows from the device");
    polysched_device_read(buffer, host, first, from, row_elements, element_bytes);
    for (long row = from; row < to; row += some) {
      const long next = row + some < to ? row + some : to;
      polysched_device_fetch(buffer, rows, row * row_bytes, (next - row) * row_bytes);
      polysched_device_store((char *)host + row * row_bytes, rows, kept->rows + (row - kept->first) * row_bytes,
                             (next - row) * row_bytes, element_bytes);
    }
    polysched_device_read(buffer, host, to, end, row_elements, element_bytes);
    polysched_device_free_rows(rows);
  }
}
static inline void polysched_device_forget(polysched_device_kept *kept) {
  if (kept->rows) polysched_device_free_rows(kept->rows);
}
'''.replace("MOST_BYTES", str(LIMITS.rows_bytes))
"""It needs the runtime's buffers, and `polysched_device_has`, `_send`, `_fetch` and `_read`."""
