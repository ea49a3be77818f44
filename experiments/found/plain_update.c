/* Two elementwise statements over short rows, built with plain -O2. */
void plain_update(int m, int n, float a[m][n], float b[m][n], float c[m][n]) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float t = a[i][j] - b[i][j];
      c[i][j] = c[i][j] * 0.5f + t * t;
    }
#pragma endscop
}
