#ifndef POLYSCHED_UCHAR_H
#define POLYSCHED_UCHAR_H
#include <wchar.h>
typedef unsigned short char16_t;
typedef unsigned char32_t;
#endif
