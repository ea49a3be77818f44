#ifndef POLYSCHED_SYS_SELECT_H
#define POLYSCHED_SYS_SELECT_H
#include <time.h>
typedef long suseconds_t;
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
#define FD_SETSIZE 1024
typedef struct { long polysched_set[16]; } fd_set;
void FD_SET(int, fd_set *);
void FD_CLR(int, fd_set *);
int FD_ISSET(int, fd_set *);
void FD_ZERO(fd_set *);
int select(int, fd_set *, fd_set *, fd_set *, struct timeval *);
#endif
