#ifndef POLYSCHED_STDALIGN_H
#define POLYSCHED_STDALIGN_H
#define alignas _Alignas
#define alignof _Alignof
#endif
