"""What every file with distributed regions has at its top: start and end of MPI, and one buffer per rank.

All ranks run the whole program; what others than the first print goes nowhere, unless `POLYSCHED_ALL_PRINT` is set.
Files of one program share what is weak.  `dup`, `fdopen` and `usleep` are declared here: `-std=c11` hides some, and
`unistd.h` has names such as `link` and `access`, which a program may have for itself.
Messages of more than 2^30 bytes go in pieces, since counts are of type `int` in MPI 3.1, section 3.2.2.
"""

from __future__ import annotations

from polysched.emit_c.limits import LIMITS

RUNTIME = r"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dup(int);
FILE *fdopen(int, const char *);
int usleep(unsigned);

#define POLYSCHED_SHARED __attribute__((weak, visibility("hidden")))
struct polysched_buffer { char *data; size_t size, capacity, taken; };
static int polysched_ranks = 1, polysched_me;
static struct polysched_buffer *polysched_out, *polysched_in;
static MPI_Request *polysched_requests;
static size_t polysched_pending, polysched_places;
POLYSCHED_SHARED FILE *polysched_errors;
/* what this rank sent, of all regions: bytes and messages, between steps and at the ends of regions */
POLYSCHED_SHARED long polysched_bytes[2];
POLYSCHED_SHARED long polysched_messages[2];

static void polysched_fail(const char *what) {
  fprintf(polysched_errors ? polysched_errors : stderr, "rank %d: %s\n", polysched_me, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static void polysched_finish(void) {
  int ended;
  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
}

__attribute__((constructor)) static void polysched_start(void) {
  int there, provided = MPI_THREAD_FUNNELED;
  MPI_Initialized(&there);
  if (!there) { MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided); atexit(polysched_finish); }
  MPI_Comm_size(MPI_COMM_WORLD, &polysched_ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &polysched_me);
  polysched_out = calloc((size_t)polysched_ranks, sizeof *polysched_out);
  polysched_in = calloc((size_t)polysched_ranks, sizeof *polysched_in);
  if (!polysched_out || !polysched_in) polysched_fail("no memory for messages");
  if (provided < MPI_THREAD_FUNNELED) polysched_fail("this MPI does not allow threads");
  /* mpiexec gives its input to the first rank; others would wait for theirs for ever */
  if (polysched_me && !freopen("/dev/null", "r", stdin)) polysched_fail("no /dev/null");
  if (polysched_me && !polysched_errors && !getenv("POLYSCHED_ALL_PRINT")) {
    int errors = dup(2);
    polysched_errors = errors < 0 ? NULL : fdopen(errors, "w");
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) polysched_fail("no /dev/null");
  }
}

/* Ranks with other sizes would wait for messages that nobody sends. */
__attribute__((unused)) static void polysched_agree(long *values, int count, const char *names) {
  for (int at = 0; at < count; at++) values[count + at] = ~values[at];
  MPI_Allreduce(MPI_IN_PLACE, values, 2 * count, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
  for (int at = 0; at < count; at++)
    if (values[at] != ~values[count + at]) {
      if (!polysched_me) fprintf(stderr, "%s differ between ranks; only rank 0 has a standard input\n", names);
      polysched_finish();   /* all ranks are here; an abort would lose what was printed */
      exit(1);
    }
}

static void polysched_room(struct polysched_buffer *b, size_t bytes) {
  if (b->size + bytes <= b->capacity) return;
  b->capacity = 2 * (b->size + bytes);
  b->data = realloc(b->data, b->capacity);
  if (!b->data) polysched_fail("no memory for a message");
}

static void polysched_put(int to, const void *from, size_t bytes) {
  struct polysched_buffer *b = &polysched_out[to];
  polysched_room(b, bytes);
  memcpy(b->data + b->size, from, bytes);
  b->size += bytes;
}

static const char *polysched_taken(int from, size_t bytes) {
  struct polysched_buffer *b = &polysched_in[from];
  if (b->taken + bytes > b->size) polysched_fail("a message is too short");
  b->taken += bytes;
  return b->data + b->taken - bytes;
}

__attribute__((unused)) static void polysched_take(int from, void *to, size_t bytes) {
  memcpy(to, polysched_taken(from, bytes), bytes);
}

/* Takes elements that a condition may have left alone, here too: those that differ are stored.  Whether any did. */
__attribute__((unused)) static int polysched_change(int from, void *to, size_t bytes, size_t element) {
  const char *taken = polysched_taken(from, bytes);
  if (!memcmp(to, taken, bytes)) return 0;
  for (size_t at = 0; at < bytes; at += element)
    if (memcmp((char *)to + at, taken + at, element)) memcpy((char *)to + at, taken + at, element);
  return 1;
}

static MPI_Request *polysched_request(void) {
  if (polysched_pending == polysched_places) {
    polysched_places = 2 * polysched_places + 16;
    polysched_requests = realloc(polysched_requests, polysched_places * sizeof *polysched_requests);
    if (!polysched_requests) polysched_fail("no memory for messages");
  }
  return &polysched_requests[polysched_pending++];
}

/* Begins to send what was put for each rank, or to all what was put for this one, and to receive what is expected. */
static void polysched_post(int to_all) {
  const size_t most = (size_t)1 << 30;
  for (int q = 0; q < polysched_ranks; q++) {
    struct polysched_buffer *in = &polysched_in[q], *out = &polysched_out[to_all ? polysched_me : q];
    if (q == polysched_me) continue;
    const size_t expected = in->size;
    in->size = 0;
    polysched_room(in, expected);
    in->size = expected;
    in->taken = 0;
    for (size_t at = 0; at < in->size; at += most)
      MPI_Irecv(in->data + at, (int)(in->size - at < most ? in->size - at : most), MPI_BYTE, q, 4711, MPI_COMM_WORLD,
                polysched_request());
    for (size_t at = 0; at < out->size; at += most) {
      MPI_Isend(out->data + at, (int)(out->size - at < most ? out->size - at : most), MPI_BYTE, q, 4711, MPI_COMM_WORLD,
                polysched_request());
      polysched_messages[to_all]++;
    }
    polysched_bytes[to_all] += (long)out->size;
  }
}

/* Until what was begun is done.  MPI looks again and again; who waits long leaves the core to others between. */
static void polysched_wait(void) {
  const double begin = MPI_Wtime();
  for (size_t done = 0; done < polysched_pending;) {
    const size_t most = (size_t)1 << 20, count = polysched_pending - done < most ? polysched_pending - done : most;
    int ended;
    MPI_Testall((int)count, polysched_requests + done, &ended, MPI_STATUSES_IGNORE);
    if (ended) { done += count; continue; }
    if (MPI_Wtime() - begin > SPIN_SECONDS) usleep(REST_MICROSECONDS);
  }
  polysched_pending = 0;
  for (int q = 0; q < polysched_ranks; q++) polysched_out[q].size = 0;
}

__attribute__((unused)) static void polysched_exchange(int to_all) {
  polysched_post(to_all);
  polysched_wait();
}

static void polysched_forget(void) {
  for (int q = 0; q < polysched_ranks; q++) {
    if (q != polysched_me && polysched_in[q].taken != polysched_in[q].size) polysched_fail("a message is too long");
    polysched_in[q].size = 0;
  }
}

/* What this rank sent: bytes and messages between steps, then at the ends of regions. */
__attribute__((weak, visibility("default"))) void polysched_sent_so_far(long *sent) {
  sent[0] = polysched_bytes[0]; sent[1] = polysched_messages[0];
  sent[2] = polysched_bytes[1]; sent[3] = polysched_messages[1];
}
""".replace("SPIN_SECONDS", repr(LIMITS.spin_seconds)).replace("REST_MICROSECONDS", str(LIMITS.rest_microseconds))
