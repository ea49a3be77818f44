/* C[a][b][c] += sum over d of A[d][c][a] B[d][b]: a contraction whose operands lie across each other. */
void contraction(int na, int nb, int nc, int nd, double C[na][nb][nc], double A[nd][nc][na], double B[nd][nb])
{
#pragma scop
  for (int a = 0; a < na; a++)
    for (int b = 0; b < nb; b++)
      for (int c = 0; c < nc; c++)
        for (int d = 0; d < nd; d++)
          C[a][b][c] += A[d][c][a] * B[d][b];
#pragma endscop
}
