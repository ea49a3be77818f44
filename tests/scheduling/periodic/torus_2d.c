void periodic(int T, int n, double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[i][j] = 0.2 * (a[i][j] + a[(i + n - 1) % n][j] + a[(i + 1) % n][j] + a[i][(j + n - 1) % n] + a[i][(j + 1) % n]);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
