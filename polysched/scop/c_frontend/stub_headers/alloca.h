#ifndef POLYSCHED_ALLOCA_H
#define POLYSCHED_ALLOCA_H
#include <stddef.h>
void *alloca(size_t);
#endif
