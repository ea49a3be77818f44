void heat(int T, int n, double a[restrict T + 1][n]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < n - 1; i++)
      a[t + 1][i] = 0.33 * (a[t][i - 1] + a[t][i] + a[t][i + 1]);
#pragma endscop
}
