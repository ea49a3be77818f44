#ifndef POLYSCHED_SYS_RESOURCE_H
#define POLYSCHED_SYS_RESOURCE_H
#include <sys/time.h>
#define RUSAGE_SELF 0
struct rusage { struct timeval ru_utime, ru_stime; long ru_maxrss; };
struct rlimit { unsigned long rlim_cur, rlim_max; };
int getrusage(int, struct rusage *);
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);
#endif
