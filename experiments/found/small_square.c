/* Elimination in a matrix of 12 by 12, its factors kept in scalars, which is called millions of times. */
void small_square(int m, double a[12][12], double x[12]) {
  double f, g, h;
#pragma scop
  for (int k = 0; k < m; k++)
    for (int i = k + 1; i < m; i++) {
      f = a[i][k] / a[k][k];
      a[i][k] = f;
      g = 0.0;
      for (int j = k + 1; j < m; j++) {
        h = f * a[k][j];
        a[i][j] -= h;
        g += h;
      }
      x[i] += g;
    }
#pragma endscop
}
