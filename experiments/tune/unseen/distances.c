/* Squared distances of all pairs of two sets of points. */
void distances(int m, int n, int d, float D[m][n], float P[m][d], float Q[n][d])
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      D[i][j] = 0;
      for (int k = 0; k < d; k++)
        D[i][j] += (P[i][k] - Q[j][k]) * (P[i][k] - Q[j][k]);
    }
#pragma endscop
}
