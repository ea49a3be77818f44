#include <stdint.h>

/* By an instruction, for all sizes: the condition for a team of threads is in the C. */
void bytes_product_any_size(int n, int32_t C[restrict n][n], uint8_t A[restrict n][n], int8_t B[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
