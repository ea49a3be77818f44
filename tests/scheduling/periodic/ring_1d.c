void periodic(int T, int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < n; i++)
      b[i] = 0.33 * (a[(i + n - 1) % n] + a[i] + a[(i + 1) % n]);
    for (int i = 0; i < n; i++)
      a[i] = b[i];
  }
#pragma endscop
}
