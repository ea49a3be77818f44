"""The C of signals: a run is left for a reset, and a job that crashes in a process for jobs alone is told.

It is a part of `SCHEDULER`, whose structures it uses.
"""

from __future__ import annotations

from polysched.runtime.limits import LIMITS

SIGNALS = """\
static uintptr_t interrupted_at(const ucontext_t *context) {
#if defined __x86_64__
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (uintptr_t)context->uc_mcontext.pc;
#elif defined __riscv
  return (uintptr_t)context->uc_mcontext.__gregs[REG_PC];
#else
  (void)context;
  return 0;
#endif
}

/* Leaves the run where it is, unless it is in somebody else's code: the C library may hold a lock there, as the first
   use of a thread's own variables does.  Then the signal comes again; one that comes too late has nothing to leave. */
static void leave(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (!own || !own->inside || !__atomic_load_n(&own->reset, __ATOMIC_RELAXED))
    return;
  const uintptr_t at = interrupted_at(context);
  if (at >= own->job->code && at < own->job->code_end) {
    own->inside = 0;
    siglongjmp(own->back, 1);
  }
  const struct itimerspec soon = {.it_value.tv_nsec = AGAIN_NANOSECONDS};
  timer_settime(own->again, 0, &soon, 0);
}

/* Says which job crashes; then the signal comes once more, and ends the process. */
static void crash(int signal) {
  if (own && own->runs)
    own->state->told->crashed = own->runs - own->state->jobs + 1;
  raise(signal);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

static void tell_crashes(void) {
  struct sigaction telling = {.sa_handler = crash, .sa_flags = SA_RESETHAND | SA_ONSTACK};
  sigemptyset(&telling.sa_mask);
  for (unsigned n = 0; n < sizeof crashes / sizeof *crashes; n++)
    sigaction(crashes[n], &telling, 0);
}

/* A stack that is full has no room for `crash`: it has one of its own. */
static void *crash_stack(long wanted) {
  stack_t own_stack = {.ss_size = CRASH_BYTES, .ss_sp = wanted ? malloc(CRASH_BYTES) : 0};
  if (own_stack.ss_sp)
    sigaltstack(&own_stack, 0);
  return own_stack.ss_sp;
}

static void free_crash_stack(void *stack) {
  const stack_t none = {.ss_flags = SS_DISABLE};
  if (stack)
    sigaltstack(&none, 0);
  free(stack);
}

/* the segment of code that a job's function is in */
static int find_code(struct dl_phdr_info *object, size_t size, void *given) {
  struct job *j = given;
  (void)size;
  for (int n = 0; n < object->dlpi_phnum; n++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[n];
    const uintptr_t start = object->dlpi_addr + p->p_vaddr, run = (uintptr_t)j->run;
    if (p->p_type == PT_LOAD && p->p_flags & PF_X && run >= start && run < start + p->p_memsz) {
      j->code = start;
      j->code_end = start + p->p_memsz;
      return 1;
    }
  }
  return 0;
}
""".replace("CRASH_BYTES", str(LIMITS.crash_bytes)).replace(
    "AGAIN_NANOSECONDS", str(round(1e9 * LIMITS.again_seconds)))
