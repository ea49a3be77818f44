#ifndef POLYSCHED_SYS_WAIT_H
#define POLYSCHED_SYS_WAIT_H
#include <sys/types.h>
#define WNOHANG 1
#define WIFEXITED(status) (((status) & 127) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 255)
pid_t wait(int *);
pid_t waitpid(pid_t, int *, int);
#endif
