#ifndef POLYSCHED_SIGNAL_H
#define POLYSCHED_SIGNAL_H
#define SIGINT 2
#define SIGABRT 6
#define SIGFPE 8
#define SIGSEGV 11
#define SIGALRM 14
#define SIGTERM 15
typedef int sig_atomic_t;
void (*signal(int, void (*)(int)))(int);
int raise(int);
#endif
