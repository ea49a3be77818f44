#ifndef POLYSCHED_SYS_TIME_H
#define POLYSCHED_SYS_TIME_H
#include <sys/select.h>
struct timezone { int tz_minuteswest, tz_dsttime; };
int gettimeofday(struct timeval *, void *);
#endif
