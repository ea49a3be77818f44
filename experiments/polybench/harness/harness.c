/* A contestant written in C: the suite's allocation functions, and the answers to the timing process
   (the protocol is described in polysched/experiment/conversation.py).

   Environment: HARNESS_SNAPSHOT=FILE  keep the initialised arrays there, so that only the first program runs a costly
                                       initialisation
                HARNESS_FILL=random    replace the floating-point inputs by random numbers in [-0.5, 0.5]
                HARNESS_EVENTS=EVENT...  count these: NAME:TYPE:CONFIG:FLAGS, fields of struct perf_event_attr
                                       (polysched.measure.processes.perf_counters.specification); what is refused is left out */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARRAYS = 32, ALIGNMENT = 4096, MOST_EVENTS = 16, CACHE_LINE = 64 };

static struct array { char *data, *pristine; size_t bytes; int element_bytes; } arrays[MOST_ARRAYS];
static int array_count, data_bytes, data_floating, warm_left, timed_left, asked;
static char orders[4096], *flush_order = "";
static struct timespec wall, thread_cpu, process_cpu;
static long switches;

static struct event { char name[32]; int file; struct { uint64_t count, enabled, running; } before, after; }
    events[MOST_EVENTS];
static int event_count;

static void fail(const char *what)
{
    fprintf(stderr, "harness: %s\n", what);
    exit(1);
}

/* Before any thread is started: they count with this one. */
static void open_events(const char *text)
{
    unsigned long long type, config, flags;
    int length;
    for (; event_count < MOST_EVENTS; text += length) {
        struct event *e = &events[event_count];
        struct perf_event_attr what = {.size = sizeof what};
        if (sscanf(text, " %31[^:]:%llu:%llu:%llu%n", e->name, &type, &config, &flags, &length) != 4)
            return;
        what.type = type, what.config = config;
        what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        memcpy((char *)&what + offsetof(struct perf_event_attr, read_format) + sizeof what.read_format, &flags,
               sizeof flags);
        e->file = syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
        event_count += e->file >= 0;
    }
}

/* A counter that did not run all the time has no count. */
static void print_events(void)
{
    for (struct event *e = events; e < events + event_count; e++)
        if (e->before.enabled == e->before.running && e->after.enabled == e->after.running)
            printf(" %s=%llu", e->name, (unsigned long long)(e->after.count - e->before.count));
}

void *polybench_alloc_data(unsigned long long int count, int element_bytes)
{
    if (array_count == MOST_ARRAYS)
        fail("too many arrays");
    struct array *a = &arrays[array_count++];
    a->bytes = (size_t)count * element_bytes;
    a->element_bytes = element_bytes;
    void *data;
    if (posix_memalign(&data, ALIGNMENT, a->bytes ? a->bytes : 1))
        fail("no memory");
    memset(data, 0, a->bytes);
    return a->data = data;
}

/* What the initialisation frees is no array of the kernel. */
void polybench_free_data(void *data)
{
    for (int i = 0; i < array_count; i++)
        if (arrays[i].data == data) {
            free(data);
            memmove(&arrays[i], &arrays[i + 1], (--array_count - i) * sizeof arrays[0]);
            return;
        }
}

void polybench_flush_cache(void) {}
void polybench_prepare_instruments(void) {}
void polybench_timer_start(void) {}
void polybench_timer_stop(void) {}
void polybench_timer_print(void) {}

/* Whether the initialisation has to run: there is no snapshot yet. */
int harness_fresh(void)
{
    const char *path = getenv("HARNESS_SNAPSHOT");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (file)
        fclose(file);
    return file == NULL;
}

static void exchange_snapshot(const char *path, int load)
{
    FILE *file = fopen(path, load ? "rb" : "wb");
    if (!file)
        fail("cannot open the snapshot");
    for (int i = 0; i < array_count; i++) {
        size_t done = load ? fread(arrays[i].data, 1, arrays[i].bytes, file)
                           : fwrite(arrays[i].data, 1, arrays[i].bytes, file);
        if (done != arrays[i].bytes)
            fail("the snapshot is incomplete");
    }
    if (fclose(file))
        fail("the snapshot cannot be written");
}

static void fill_random(void)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < array_count; i++) {
        if (arrays[i].element_bytes != data_bytes)
            continue;
        for (size_t k = 0; k < arrays[i].bytes / data_bytes; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            double value = (double)(state >> 11) / 9007199254740992.0 - 0.5;
            if (data_bytes == 8)
                ((double *)arrays[i].data)[k] = value;
            else
                ((float *)arrays[i].data)[k] = (float)value;
        }
    }
}

/* After the initialisation: keep the inputs, and say that we are ready. */
void harness_begin(int element_bytes, int is_floating)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    data_bytes = element_bytes, data_floating = is_floating;
    open_events(getenv("HARNESS_EVENTS") ? getenv("HARNESS_EVENTS") : "");
    const char *path = getenv("HARNESS_SNAPSHOT"), *how = getenv("HARNESS_FILL");
    if (path)
        exchange_snapshot(path, !harness_fresh());
    if (how && !strcmp(how, "random") && is_floating)
        fill_random();
    for (int i = 0; i < array_count; i++) {
        arrays[i].pristine = malloc(arrays[i].bytes ? arrays[i].bytes : 1);
        if (!arrays[i].pristine)
            fail("no memory");
        memcpy(arrays[i].pristine, arrays[i].data, arrays[i].bytes);
    }
    printf("ready \n");
    fflush(stdout);
}

static const char *type_of(const struct array *a)
{
    if (a->element_bytes != data_bytes)
        return a->element_bytes == 1 ? "int8" : "int32";
    return data_floating ? (data_bytes == 8 ? "float64" : "float32") : "int32";
}

/* Every array: a line `NAME TYPE ELEMENTS`, then its bytes. */
static void write_results(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("cannot write the results");
    fprintf(file, "raw\n");
    for (int i = 0; i < array_count; i++) {
        fprintf(file, "array%d %s %zu\n", i + 1, type_of(&arrays[i]), arrays[i].bytes / arrays[i].element_bytes);
        if (fwrite(arrays[i].data, 1, arrays[i].bytes, file) != arrays[i].bytes)
            fail("cannot write the results");
    }
    if (fclose(file))
        fail("cannot write the results");
}

static void walk(volatile char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        memory[i]++;
}

/* SHARED PRIVATE PROCESSOR...: walk through so many bytes, and on each of the processors through what it has for itself. */
static void flush_caches(const char *text)
{
    static char *memory;
    size_t shared, private;
    cpu_set_t bound, one;
    int length, processor;
    if (sscanf(text, " %zu %zu%n", &shared, &private, &length) != 2)
        return;
    if (!memory && !(memory = calloc(1, shared > private ? shared : private)))
        fail("no memory");
    sched_getaffinity(0, sizeof bound, &bound);
    for (text += length; sscanf(text, " %d%n", &processor, &length) == 1; text += length) {
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        if (sched_setaffinity(0, sizeof one, &one))
            fail("cannot go to a processor");
        walk(memory, private);
    }
    sched_setaffinity(0, sizeof bound, &bound);
    walk(memory, shared);
}

/* Before each call: take the next order if need be, put the inputs back, and flush the caches if asked to. */
int harness_next(void)
{
    int length = 0;
    while (!warm_left && !timed_left) {
        if (asked) {
            printf("done\n");
            fflush(stdout);
        }
        if (!fgets(orders, sizeof orders, stdin))
            exit(0);
        asked = 1;
        orders[strcspn(orders, "\n")] = 0;
        if (!strncmp(orders, "results ", 8))
            write_results(orders + 8);
        else if (sscanf(orders, "run %d %d%n", &warm_left, &timed_left, &length) != 2)
            fail("an order was not understood");
        else
            flush_order = orders + length;
    }
    for (int i = 0; i < array_count; i++)
        memcpy(arrays[i].data, arrays[i].pristine, arrays[i].bytes);
    flush_caches(flush_order);
    return 1;
}

static long involuntary_switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

void harness_start(void)
{
    for (struct event *e = events; e < events + event_count; e++)
        if (read(e->file, &e->before, sizeof e->before) != sizeof e->before)
            fail("a counter cannot be read");
    switches = involuntary_switches();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process_cpu);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread_cpu);
    clock_gettime(CLOCK_MONOTONIC, &wall);
}

static double since(clockid_t clock, const struct timespec *start)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (now.tv_sec - start->tv_sec) + 1e-9 * (now.tv_nsec - start->tv_nsec);
}

void harness_stop(void)
{
    double wall_seconds = since(CLOCK_MONOTONIC, &wall);
    double thread_seconds = since(CLOCK_THREAD_CPUTIME_ID, &thread_cpu);
    double process_seconds = since(CLOCK_PROCESS_CPUTIME_ID, &process_cpu);
    long switched = involuntary_switches() - switches;
    for (struct event *e = events; e < events + event_count; e++)
        if (read(e->file, &e->after, sizeof e->after) != sizeof e->after)
            fail("a counter cannot be read");
    printf("%s %.9g %.9g %.9g %ld", warm_left ? "warmup" : "sample", wall_seconds, thread_seconds, process_seconds,
           switched);
    print_events();
    printf("\n");
    warm_left ? warm_left-- : timed_left--;
}
