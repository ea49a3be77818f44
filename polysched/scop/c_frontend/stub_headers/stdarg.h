#ifndef POLYSCHED_STDARG_H
#define POLYSCHED_STDARG_H
typedef char *va_list;
#define va_start(list, last) ((void)0)
#define va_end(list) ((void)0)
#define va_copy(to, from) ((to) = (from))
#define va_arg(list, type) (*(type *)(list))
#endif
