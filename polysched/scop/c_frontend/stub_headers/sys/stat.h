#ifndef POLYSCHED_SYS_STAT_H
#define POLYSCHED_SYS_STAT_H
#include <sys/types.h>
#include <time.h>
struct stat { mode_t st_mode; off_t st_size; time_t st_mtime; };
int stat(const char *, struct stat *);
int mkdir(const char *, mode_t);
#endif
