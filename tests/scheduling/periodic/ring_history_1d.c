void periodic(int T, int n, double a[restrict T + 1][n]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 0; i < n; i++)
      a[t + 1][i] = 0.33 * (a[t][(i + n - 1) % n] + a[t][i] + a[t][(i + 1) % n]);
#pragma endscop
}
