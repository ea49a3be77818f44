/* Rows are centred, scaled by their length, and rotated. */
void whitened(int m, int n, double Y[m][n], double X[m][n], double R[n][n], double mean[m], double length[m])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    mean[i] = 0;
    for (int j = 0; j < n; j++)
      mean[i] += X[i][j];
    length[i] = 1e-9;
    for (int j = 0; j < n; j++)
      length[i] += (X[i][j] - mean[i] / n) * (X[i][j] - mean[i] / n);
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      Y[i][j] = 0;
      for (int k = 0; k < n; k++)
        Y[i][j] += (X[i][k] - mean[i] / n) / length[i] * R[k][j];
    }
#pragma endscop
}
