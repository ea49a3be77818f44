/* Stands in front of the suite's own polybench.h: the kernel's call in main becomes the body of a loop that the timing
   process controls.  Everything else of the suite stays as it is. */
#include_next <polybench.h>
#ifndef POLYSCHED_HARNESS
#define POLYSCHED_HARNESS
extern void harness_begin(int element_bytes, int is_floating);
extern int harness_next(void);
extern void harness_start(void);
extern void harness_stop(void);
extern int harness_fresh(void);
#undef POLYBENCH_FREE_ARRAY
#define POLYBENCH_FREE_ARRAY(x) polybench_free_data((void *)x);
#undef polybench_start_instruments
#undef polybench_stop_instruments
#undef polybench_print_instruments
#define polybench_start_instruments \
  for (harness_begin(sizeof(DATA_TYPE), (DATA_TYPE)0.5 != 0); harness_next();) { \
    harness_start()
#define polybench_stop_instruments harness_stop(); }
#define polybench_print_instruments
#endif
