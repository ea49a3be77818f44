/* Advection of a quantity along both axes, upwind differences of first order, two arrays in turn. */
void upwind(int steps, int n, double cx, double cy, double U[n][n], double V[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        V[i][j] = U[i][j] - cx * (U[i][j] - U[i - 1][j]) - cy * (U[i][j] - U[i][j - 1]);
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        U[i][j] = V[i][j];
  }
#pragma endscop
}
