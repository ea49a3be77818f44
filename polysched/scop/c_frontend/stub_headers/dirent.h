#ifndef POLYSCHED_DIRENT_H
#define POLYSCHED_DIRENT_H
#include <sys/types.h>
typedef struct polysched_directory DIR;
struct dirent { unsigned long d_ino; unsigned char d_type; char d_name[256]; };
DIR *opendir(const char *);
struct dirent *readdir(DIR *);
int closedir(DIR *);
#endif
