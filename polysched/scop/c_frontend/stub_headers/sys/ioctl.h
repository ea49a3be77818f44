#ifndef POLYSCHED_SYS_IOCTL_H
#define POLYSCHED_SYS_IOCTL_H
int ioctl(int, unsigned long, ...);
#endif
