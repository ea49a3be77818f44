#ifndef POLYSCHED_MEMORY_H
#define POLYSCHED_MEMORY_H
#include <string.h>
#endif
