/* With --safe: the condition on the sizes counts calls of functions. */
#include <math.h>
void guarded_calls(int n, double C[restrict n][n], double A[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      C[i][j] = exp(A[i][j]);
#pragma endscop
}
