/* Rows of B are whole lines and as many as the TLB has pages: read in place, or packed. */
void rows_in_place(float C[restrict 100][64], float A[restrict 100][800], float B[restrict 800][64]) {
#pragma scop
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 800; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
