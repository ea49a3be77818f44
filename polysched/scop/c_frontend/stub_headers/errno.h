#ifndef POLYSCHED_ERRNO_H
#define POLYSCHED_ERRNO_H
extern int errno;
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EINVAL 22
#define EDOM 33
#define ERANGE 34
#endif
