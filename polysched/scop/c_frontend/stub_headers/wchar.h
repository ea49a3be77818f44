#ifndef POLYSCHED_WCHAR_H
#define POLYSCHED_WCHAR_H
#include <stddef.h>
typedef unsigned wint_t;
typedef struct { int opaque[2]; } mbstate_t;
#define WEOF (0xffffffffu)
size_t wcslen(const wchar_t *);
wchar_t *wcscpy(wchar_t *, const wchar_t *);
wchar_t *wcscat(wchar_t *, const wchar_t *);
int wcscmp(const wchar_t *, const wchar_t *);
wchar_t *wmemset(wchar_t *, wchar_t, size_t);
wchar_t *wmemcpy(wchar_t *, const wchar_t *, size_t);
size_t mbrtowc(wchar_t *, const char *, size_t, mbstate_t *);
size_t wcrtomb(char *, wchar_t, mbstate_t *);
int wprintf(const wchar_t *, ...);
#endif
