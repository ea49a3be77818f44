/* Operands in the array of the sums are not packed, so the last blocks are computed row by row. */
void cut_blocks_in_place(double A[40][40]) {
#pragma scop
  for (int k = 0; k < 40; k++) {
    for (int i = k + 1; i < 40; i++)
      A[i][k] /= A[k][k];
    for (int i = k + 1; i < 40; i++)
      for (int j = k + 1; j < 40; j++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
