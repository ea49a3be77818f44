/* Known extents that no register block divides. */
void cut_blocks(double C[restrict 100][100], double A[restrict 100][50], double B[restrict 50][100]) {
#pragma scop
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++)
      for (int k = 0; k < 50; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
