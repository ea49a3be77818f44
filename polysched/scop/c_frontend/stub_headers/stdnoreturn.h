#ifndef POLYSCHED_STDNORETURN_H
#define POLYSCHED_STDNORETURN_H
#define noreturn _Noreturn
#endif
