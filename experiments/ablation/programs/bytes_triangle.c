#include <stdint.h>

/* By an instruction: operands of a triangle are packed element by element. */
void bytes_triangle(int32_t C[restrict 64][64], uint8_t A[restrict 64][64], int8_t B[restrict 64][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k <= i; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
