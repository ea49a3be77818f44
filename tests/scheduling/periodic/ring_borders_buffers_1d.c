void periodic(int T, int n, double a[restrict 2][n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    a[(t + 1) % 2][0] = 0.33 * (a[t % 2][n - 1] + a[t % 2][0] + a[t % 2][1]);
    for (int i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = 0.33 * (a[t % 2][i - 1] + a[t % 2][i] + a[t % 2][i + 1]);
    a[(t + 1) % 2][n - 1] = 0.33 * (a[t % 2][n - 2] + a[t % 2][n - 1] + a[t % 2][0]);
  }
#pragma endscop
}
