/* Rows of ten elements fill no vectors: whether channels take the lanes depends on what transposing their sums costs. */
void channels_in_lanes(float Y[restrict 64][4][10], float X[restrict 2][6][12], float W[restrict 64][2][3][3]) {
#pragma scop
  for (int k = 0; k < 64; k++)
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 10; x++)
        for (int c = 0; c < 2; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              Y[k][y][x] += W[k][c][r][s] * X[c][y + r][x + s];
#pragma endscop
}
