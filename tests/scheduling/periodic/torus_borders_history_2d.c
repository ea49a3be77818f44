void periodic(int T, int n, double a[restrict T + 1][n][n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    a[t + 1][0][0] = 0.2 * (a[t][0][0] + a[t][n - 1][0] + a[t][1][0] + a[t][0][n - 1] + a[t][0][1]);
    for (int j = 1; j < n - 1; j++)
      a[t + 1][0][j] = 0.2 * (a[t][0][j] + a[t][n - 1][j] + a[t][1][j] + a[t][0][j - 1] + a[t][0][j + 1]);
    a[t + 1][0][n - 1] = 0.2 * (a[t][0][n - 1] + a[t][n - 1][n - 1] + a[t][1][n - 1] + a[t][0][n - 2] + a[t][0][0]);
    for (int i = 1; i < n - 1; i++) {
      a[t + 1][i][0] = 0.2 * (a[t][i][0] + a[t][i - 1][0] + a[t][i + 1][0] + a[t][i][n - 1] + a[t][i][1]);
      for (int j = 1; j < n - 1; j++)
        a[t + 1][i][j] = 0.2 * (a[t][i][j] + a[t][i - 1][j] + a[t][i + 1][j] + a[t][i][j - 1] + a[t][i][j + 1]);
      a[t + 1][i][n - 1] = 0.2 * (a[t][i][n - 1] + a[t][i - 1][n - 1] + a[t][i + 1][n - 1] + a[t][i][n - 2] + a[t][i][0]);
    }
    a[t + 1][n - 1][0] = 0.2 * (a[t][n - 1][0] + a[t][n - 2][0] + a[t][0][0] + a[t][n - 1][n - 1] + a[t][n - 1][1]);
    for (int j = 1; j < n - 1; j++)
      a[t + 1][n - 1][j] = 0.2 * (a[t][n - 1][j] + a[t][n - 2][j] + a[t][0][j] + a[t][n - 1][j - 1] + a[t][n - 1][j + 1]);
    a[t + 1][n - 1][n - 1] = 0.2 * (a[t][n - 1][n - 1] + a[t][n - 2][n - 1] + a[t][0][n - 1] + a[t][n - 1][n - 2] + a[t][n - 1][0]);
  }
#pragma endscop
}
