#ifndef POLYSCHED_SCHED_H
#define POLYSCHED_SCHED_H
#include <sys/types.h>
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
struct sched_param { int sched_priority; };
int sched_setscheduler(pid_t, int, const struct sched_param *);
int sched_getcpu(void);
#endif
