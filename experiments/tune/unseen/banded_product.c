/* A matrix with few diagonals, kept by diagonals, times a matrix. */
void banded_product(int n, int band, int columns, double Y[n][columns], double D[band][n], double X[n + band][columns])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < band; k++)
      for (int j = 0; j < columns; j++)
        Y[i][j] += D[k][i] * X[i + k][j];
#pragma endscop
}
