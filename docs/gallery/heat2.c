void heat2(int T, int n, double a[restrict T+1][n][n]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[t+1][i][j] = 0.2 * (a[t][i-1][j] + a[t][i][j] + a[t][i+1][j] + a[t][i][j-1] + a[t][i][j+1]);
#pragma endscop
}
