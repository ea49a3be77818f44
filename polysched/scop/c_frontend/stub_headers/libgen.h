#ifndef POLYSCHED_LIBGEN_H
#define POLYSCHED_LIBGEN_H
char *basename(char *);
char *dirname(char *);
#endif
