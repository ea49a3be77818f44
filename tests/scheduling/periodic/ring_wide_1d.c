void periodic(int T, int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < n; i++)
      b[i] = 0.25 * (a[i < 2 ? i + n - 2 : i - 2] + a[i == 0 ? n - 1 : i - 1] + a[i == n - 1 ? 0 : i + 1] + a[(i + 2) % n]);
    for (int i = 0; i < n; i++)
      a[i] = b[i];
  }
#pragma endscop
}
