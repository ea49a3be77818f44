/* Declarations of ISO C only, for a parser; never compiled into a program. */
#ifndef POLYSCHED_STDDEF_H
#define POLYSCHED_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
typedef long double max_align_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
