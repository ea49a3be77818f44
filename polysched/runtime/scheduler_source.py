"""The C of the scheduler: two queues, threads that take from them, and one that releases requests."""

from __future__ import annotations

from polysched.runtime.limits import LIMITS
from polysched.runtime.signals_source import SIGNALS

SCHEDULER = """\
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

typedef int (*run_t)(void *const *, const int *, long *);

/* filled by the caller up to `waiting`; the rest is told */
struct job {
  run_t run;
  void *const *arguments;
  long real_time;   /* 1, or 0 for best effort */
  long requests;    /* of real time: how many; of best effort: runs, or -1 for as many as there is time for */
  double first, period;   /* seconds from the start to the first request, and between two */
  long resettable;        /* a run may be thrown away at any place, and begun anew */
  double tile_seconds;    /* expected of a tile; 0 for unknown: what yields took until now says it */
  long beside;            /* of best effort: it goes on beside requests */
  double *latency, *waiting;   /* of each request: from its release to its end, and to its start */
  long runs, stops, failed, resets;
  double seconds;   /* in which it ran */
  long released, taken, done;
  long in_a_row;          /* resets of the run that goes on */
  double last_yields[LAST_YIELDS];   /* seconds of the last ones, in turn */
  long yielded;                      /* how often it did */
  uintptr_t code, code_end;   /* the machine code that `run` is in */
};

struct options {
  long workers, preempt, all_beside, fifo, most_yields, reset, most_in_a_row;
  long tell_crashes;   /* which job it was, before a crash ends the process */
  double reset_seconds;
  double rest_share, rest_every;   /* under SCHED_FIFO: time left to ordinary threads, over that taken; how often */
};
/* `stop` is set by the caller, from another thread: nothing more is begun then, and what can yield does; `crashed` is
   the number of the job that ends the process, counted from 1 */
struct told { double *yields; long yield_count, fifo; double seconds; int stop; long crashed; };

struct state {
  pthread_mutex_t lock;
  pthread_cond_t work, over;
  struct job *jobs;
  long count;
  struct options options;
  struct told *told;
  double start;
  int ended;
  long idle, turn;
};

struct worker {
  struct state *state;
  struct job *job;       /* of best effort, while it runs */
  struct job *runs;      /* of any kind, while it runs */
  double asked;          /* when it was asked to stop; 0 for not */
  double begin, owed;    /* of the job; rest that ordinary threads should have had */
  long rest;             /* it was told to stop for that */
  pthread_t thread;
  sigjmp_buf back;                     /* behind the run, for a reset */
  volatile sig_atomic_t inside;        /* it runs a job that may be reset */
  int reset;                           /* it shall be; set by another thread */
  timer_t again;                       /* sends the signal once more */
  int flag __attribute__((aligned(64)));
};

static _Thread_local struct worker *own;

SIGNALS_CODE
static const int never = 0;
static struct worker *team;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double release_of(const struct job *j, const struct state *s, long request) {
  return s->start + j->first + request * j->period;
}

/* whether a request is released and not served; a job that failed is asked nothing more */
static int waits(const struct job *j) {
  return j->real_time && !j->failed && j->runs < j->released;
}

static int stopped(const struct state *s) {
  return __atomic_load_n(&s->told->stop, __ATOMIC_RELAXED);
}

static struct job *urgent(struct state *s) {
  struct job *best = 0;
  if (stopped(s))
    return 0;
  for (long n = 0; n < s->count; n++) {
    struct job *j = &s->jobs[n];
    if (waits(j) && !j->taken
        && (!best || release_of(j, s, j->runs) < release_of(best, s, best->runs)))
      best = j;
  }
  return best;
}

static int urgent_runs(const struct state *s) {
  for (long n = 0; n < s->count; n++)
    if (waits(&s->jobs[n]))
      return 1;
  return 0;
}

static struct job *patient(struct state *s) {
  if (s->ended || stopped(s))
    return 0;
  const int alone = urgent_runs(s);
  for (long n = 0; n < s->count; n++) {
    struct job *j = &s->jobs[(s->turn + n) % s->count];
    if (!j->real_time && !j->taken && !j->failed && (j->beside || !alone)
        && (j->requests < 0 || j->runs < j->requests)) {
      s->turn = (j - s->jobs + (j->done == 0)) % s->count;
      return j;
    }
  }
  return 0;
}

static int all_done(const struct state *s) {
  for (long n = 0; n < s->count; n++)
    if (!s->jobs[n].failed && s->jobs[n].runs < s->jobs[n].requests)
      return 0;
  return 1;
}

static void has_yielded(struct job *j, double seconds) {
  j->last_yields[j->yielded++ % LAST_YIELDS] = seconds;
}

/* What a tile is expected to take: as said, or twice the median of the last yields, which find it half done in the
   median.  One that the system held up says nothing about tiles. */
static double tile_seconds_of(const struct job *j) {
  double sorted[LAST_YIELDS];
  const long count = j->yielded < LAST_YIELDS ? j->yielded : LAST_YIELDS;
  if (j->tile_seconds > 0 || !count)
    return j->tile_seconds;
  for (long n = 0; n < count; n++) {
    long at = n;
    for (; at > 0 && sorted[at - 1] > j->last_yields[n]; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = j->last_yields[n];
  }
  return 2 * sorted[(count - 1) / 2];
}

static void ask(struct worker *w) {
  if (!w->asked) {
    const struct options *o = &w->state->options;
    const struct job *j = w->job;
    const double tile = tile_seconds_of(j);
    w->asked = now();
    __atomic_store_n(&w->flag, 1, __ATOMIC_RELAXED);
    if (o->reset && j->resettable && tile > o->reset_seconds && j->in_a_row < o->most_in_a_row) {
      __atomic_store_n(&w->reset, 1, __ATOMIC_RELAXED);
      pthread_kill(w->thread, RESET_SIGNAL);
    }
  }
}

static void ended(struct state *s) {
  s->ended = 1;
  pthread_cond_broadcast(&s->over);
  for (long n = 0; n < s->options.workers; n++)
    if (team[n].job)
      __atomic_store_n(&team[n].flag, 1, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&s->work);
}

static void ran(struct worker *w, struct job *j, int status, double begin, double end) {
  struct state *s = w->state;
  j->seconds += end - begin;
  w->owed += s->options.rest_share * (end - begin);
  if (w->asked && (status == 1 || status == 3)) {
    if (status == 1)
      has_yielded(j, end - w->asked);
    if (s->told->yield_count < s->options.most_yields)
      s->told->yields[s->told->yield_count] = end - w->asked;
    s->told->yield_count++;
  }
  if (status == 3) {
    j->done = 0;
    j->resets++;
    j->in_a_row++;
  }
  if (status == 0)
    j->in_a_row = 0;
  if (j->real_time && status != 1) {
    double release = release_of(j, s, j->runs);
    j->latency[j->runs] = end - release;
    j->waiting[j->runs] = begin - release;
  }
  j->failed |= status == 2;
  j->stops += status == 1 && (w->asked || !w->rest);
  j->runs += status == 0;
  j->taken = 0;
  w->job = 0;
  w->asked = 0;
  __atomic_store_n(&w->reset, 0, __ATOMIC_RELAXED);
  w->rest = 0;
  if (!s->ended && all_done(s))
    ended(s);
}

static struct timespec time_of(double seconds) {
  return (struct timespec){(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
}

/* whether a thread rests now: it owes enough, and no request comes soon, unless it owes much more than that */
static int rests(const struct state *s, double owed, double at) {
  const double least = s->options.rest_share * s->options.rest_every;
  if (!s->told->fifo || owed <= 0 || owed < least)
    return 0;
  int soon = 0;
  for (long n = 0; n < s->count; n++) {
    const struct job *j = &s->jobs[n];
    soon |= j->real_time && j->released < j->requests && release_of(j, s, j->released) < at + 2 * owed;
  }
  return !soon || owed > 3 * least;
}

/* Waits for work: at most as long as rest is owed, or for any time where that is 0. */
static void wait_for_work(struct worker *w, double most) {
  struct state *s = w->state;
  const double begin = now();
  const struct timespec until = time_of(begin + most);
  s->idle++;
  if (most)
    pthread_cond_timedwait(&s->work, &s->lock, &until);
  else
    pthread_cond_wait(&s->work, &s->lock);
  s->idle--;
  w->owed -= now() - begin;
  if (w->owed < 0)
    w->owed = 0;
}

/* Under SCHED_FIFO: stops jobs of best effort now and then, for a rest.  Linux takes a core away for a twentieth of a
   second, in one piece, where ordinary threads have had less than that of the second before. */
static void *have_rest(void *given) {
  struct state *s = given;
  pthread_mutex_lock(&s->lock);
  while (!s->ended) {
    const double t = now();
    double next = t + s->options.rest_every;
    for (long n = 0; n < s->options.workers; n++) {
      struct worker *w = &team[n];
      if (!w->job || w->asked || w->rest)
        continue;
      const double owed = w->owed + s->options.rest_share * (t - w->begin);
      if (rests(s, owed, t)) {
        w->rest = 1;
        __atomic_store_n(&w->flag, 1, __ATOMIC_RELAXED);
        continue;
      }
      double due = w->begin + s->options.rest_every - w->owed / s->options.rest_share;
      if (due < t + s->options.rest_every / 16)   /* a request comes soon */
        due = t + s->options.rest_every / 16;
      if (due < next)
        next = due;
    }
    const struct timespec until = time_of(next);
    pthread_cond_timedwait(&s->over, &s->lock, &until);
  }
  pthread_mutex_unlock(&s->lock);
  return 0;
}

static void *work(void *given) {
  struct worker *w = given;
  struct state *s = w->state;
  own = w;
  struct sigevent again = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = RESET_SIGNAL};
  again.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  void *const beside = crash_stack(s->options.tell_crashes);
  const int resets = s->options.reset && !timer_create(CLOCK_MONOTONIC, &again, &w->again);
  pthread_mutex_lock(&s->lock);
  w->thread = pthread_self();
  for (;;) {
    struct job *j = urgent(s);
    if (!j && !s->ended && rests(s, w->owed, now())) {
      wait_for_work(w, w->owed);
      continue;
    }
    if (!j)
      j = patient(s);
    if (!j) {
      if (s->ended)
        break;
      wait_for_work(w, 0);
      continue;
    }
    j->taken = 1;
    w->begin = now();
    w->job = j->real_time ? 0 : j;
    __atomic_store_n(&w->flag, 0, __ATOMIC_RELAXED);
    const double begin = w->begin;
    w->runs = j;
    pthread_mutex_unlock(&s->lock);
    volatile int status = 3;
    if (!j->resettable || !resets)
      status = j->run(j->arguments, j->real_time ? &never : &w->flag, &j->done);
    else if (!sigsetjmp(w->back, 1)) {
      w->inside = 1;
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      status = j->run(j->arguments, j->real_time ? &never : &w->flag, &j->done);
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      w->inside = 0;
    }
    w->runs = 0;
    double end = now();
    pthread_mutex_lock(&s->lock);
    ran(w, j, status, begin, end);
    if (!s->options.all_beside)
      pthread_cond_broadcast(&s->work);
  }
  pthread_mutex_unlock(&s->lock);
  if (resets)
    timer_delete(w->again);
  free_crash_stack(beside);
  return 0;
}

/* how many threads have to come free, beside those that are idle or asked, so that no request waits */
static long missing(const struct state *s) {
  long count = -s->idle;
  for (long n = 0; n < s->count; n++)
    count += waits(&s->jobs[n]) && !s->jobs[n].taken;
  for (long n = 0; n < s->options.workers; n++)
    count -= team[n].asked != 0;
  return count;
}

static void release(struct state *s, struct job *j) {
  pthread_mutex_lock(&s->lock);
  j->released++;
  if (s->idle)
    pthread_cond_broadcast(&s->work);
  if (s->options.preempt) {
    for (long n = 0; n < s->options.workers; n++)
      if (team[n].job && !team[n].asked && !team[n].job->beside)
        ask(&team[n]);
    long wanted = missing(s);
    for (long n = 0; n < s->options.workers && wanted > 0; n++)
      if (team[n].job && !team[n].asked) {
        ask(&team[n]);
        wanted--;
      }
  }
  pthread_mutex_unlock(&s->lock);
}

static void release_all(struct state *s) {
  for (;;) {
    struct job *next = 0;
    for (long n = 0; n < s->count; n++) {
      struct job *j = &s->jobs[n];
      if (j->real_time && j->released < j->requests
          && (!next || release_of(j, s, j->released) < release_of(next, s, next->released)))
        next = j;
    }
    if (!next)
      return;
    double at = release_of(next, s, next->released);
    for (double t = now(); t < at && !stopped(s); t = now()) {
      const struct timespec until = time_of(at < t + STOP_SECONDS ? at : t + STOP_SECONDS);
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
    }
    if (stopped(s))   /* requests that are late wait for nothing */
      return;
    release(s, next);
  }
}

/* Waits until all is done, or the caller wants no more; with the lock. */
static void wait_for_end(struct state *s) {
  while (!s->ended) {
    const struct timespec until = time_of(now() + STOP_SECONDS);
    pthread_cond_timedwait(&s->over, &s->lock, &until);
    if (!s->ended && stopped(s))
      ended(s);
  }
}

/* 0; 1 where a worker could not be started, 2 where the thread could not that has best effort rest */
__attribute__((visibility("default")))
int polysched_serve(struct job *jobs, long count, const struct options *options, struct told *told) {
  struct state s = {.jobs = jobs, .count = count, .options = *options, .told = told};
  pthread_t threads[MOST_WORKERS];
  pthread_mutex_init(&s.lock, 0);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&s.work, &monotonic);
  pthread_cond_init(&s.over, &monotonic);
  pthread_condattr_destroy(&monotonic);
  team = aligned_alloc(64, options->workers * sizeof *team);
  if (!team)
    return 1;
  memset(team, 0, options->workers * sizeof *team);
  struct sched_param before, high = {.sched_priority = FIFO_PRIORITY}, low = {.sched_priority = FIFO_PRIORITY - 1};
  int policy;
  pthread_getschedparam(pthread_self(), &policy, &before);
  told->fifo = options->fifo && !pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
  struct sigaction leaves = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO}, kept;
  sigemptyset(&leaves.sa_mask);
  if (options->reset) {
    sigaction(RESET_SIGNAL, &leaves, &kept);
    for (long n = 0; n < count; n++)
      dl_iterate_phdr(find_code, &jobs[n]);
  }
  if (options->tell_crashes)
    tell_crashes();
  s.start = now();
  s.ended = all_done(&s);
  pthread_t resting;
  const int needs_rest = told->fifo && options->preempt;
  const int with_rest = needs_rest && !pthread_create(&resting, 0, have_rest, &s);
  /* Workers inherit a lower priority: where they have all cores, nobody of equal priority would release a request. */
  if (told->fifo)
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &low);
  long started = 0;
  for (; with_rest == needs_rest && started < options->workers; started++) {
    team[started].state = &s;
    if (pthread_create(&threads[started], 0, work, &team[started]))
      break;
  }
  if (told->fifo)
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
  if (started == options->workers)
    release_all(&s);
  pthread_mutex_lock(&s.lock);
  if (started < options->workers) {
    s.options.workers = started;
    ended(&s);
  }
  wait_for_end(&s);
  pthread_cond_broadcast(&s.work);
  pthread_mutex_unlock(&s.lock);
  for (long n = 0; n < started; n++)
    pthread_join(threads[n], 0);
  if (with_rest)
    pthread_join(resting, 0);
  told->seconds = now() - s.start;
  if (options->reset)
    sigaction(RESET_SIGNAL, &kept, 0);
  if (told->fifo)
    pthread_setschedparam(pthread_self(), policy, &before);
  pthread_mutex_destroy(&s.lock);
  pthread_cond_destroy(&s.work);
  pthread_cond_destroy(&s.over);
  free(team);
  return with_rest < needs_rest ? 2 : started < options->workers;
}
""".replace("SIGNALS_CODE", SIGNALS).replace("RESET_SIGNAL", "SIGUSR2").replace(
    "STOP_SECONDS", str(LIMITS.stop_seconds)).replace("LAST_YIELDS", str(LIMITS.last_yields)).replace(
    "MOST_WORKERS", str(LIMITS.most_workers)).replace("FIFO_PRIORITY", str(LIMITS.fifo_priority))
"""Threads inherit policy and priority of the one that starts them: with SCHED_FIFO all of them run under it."""
