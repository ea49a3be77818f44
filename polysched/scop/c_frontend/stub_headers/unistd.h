#ifndef POLYSCHED_UNISTD_H
#define POLYSCHED_UNISTD_H
#include <sys/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_ONLN 84
long sysconf(int);
pid_t getpid(void);
unsigned sleep(unsigned);
int usleep(unsigned);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int close(int);
int unlink(const char *);
int getopt(int, char *const[], const char *);
extern char *optarg;
extern int optind;
#endif
