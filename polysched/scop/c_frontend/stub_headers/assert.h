#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
void __polysched_assert_fail(void);
#define assert(condition) ((condition) ? (void)0 : __polysched_assert_fail())
#endif
#ifndef static_assert
#define static_assert _Static_assert
#endif
