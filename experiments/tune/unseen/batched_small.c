/* Many small products of matrices, one after the other. */
void batched_small(int count, int n, float C[count][n][n], float A[count][n][n], float B[count][n][n])
{
#pragma scop
  for (int b = 0; b < count; b++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
#pragma endscop
}
