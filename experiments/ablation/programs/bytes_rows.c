#include <stdint.h>

/* By an instruction: its lanes hold partial sums, which are added at the end. */
void bytes_rows(int32_t y[restrict 1000], uint8_t A[restrict 1000][1000], int8_t x[restrict 1000]) {
#pragma scop
  for (int i = 0; i < 1000; i++)
    for (int k = 0; k < 1000; k++)
      y[i] += A[i][k] * x[k];
#pragma endscop
}
