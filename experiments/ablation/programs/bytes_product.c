#include <stdint.h>

/* By an instruction: rows of B are packed in groups of four, and copies are shared by threads from some size on. */
void bytes_product(int32_t C[restrict 200][200], uint8_t A[restrict 200][200], int8_t B[restrict 200][200]) {
#pragma scop
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++)
      for (int k = 0; k < 200; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
