#ifndef POLYSCHED_UTIME_H
#define POLYSCHED_UTIME_H
#include <time.h>
struct utimbuf { time_t actime, modtime; };
int utime(const char *, const struct utimbuf *);
#endif
