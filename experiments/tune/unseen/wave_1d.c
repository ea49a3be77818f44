/* The wave equation in one dimension, three time levels. */
void wave_1d(int steps, int n, double c, double A[n], double B[n], double C[n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      C[i] = 2.0 * B[i] - A[i] + c * (B[i - 1] - 2.0 * B[i] + B[i + 1]);
    for (int i = 1; i < n - 1; i++) {
      A[i] = B[i];
      B[i] = C[i];
    }
  }
#pragma endscop
}
