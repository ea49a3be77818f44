/* Sweeps over a matrix of known size: wavefronts hand data from thread to thread. */
void sweeps(double a[100][100]) {
#pragma scop
  for (int t = 0; t < 50; t++)
    for (int i = 1; i < 99; i++)
      for (int j = 1; j < 99; j++)
        a[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
