#define N 1000
void periodic(int T, double a[restrict 2][N]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 0; i < N; i++)
      a[(t + 1) % 2][i] = 0.33 * (a[t % 2][(i + N - 1) % N] + a[t % 2][i] + a[t % 2][(i + 1) % N]);
#pragma endscop
}
