#define polysched_min(a, b) ((a) < (b) ? (a) : (b))
#define polysched_max(a, b) ((a) > (b) ? (a) : (b))
#define polysched_floordiv(n, d) ((n) / (d) - ((n) % (d) < 0))
{
  typedef double polysched_f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
  typedef double polysched_f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
  /* band 0: tiles of 32 x 32 x 32 */
  #pragma omp parallel for schedule(dynamic) if((n - 1) / 32 + 1 >= 2 && (double)((n - 1) / 32 + 1) * ((m - 1) / 32 + 1) * m * 32 >= 16384)
  for (long j_tile = 0; j_tile <= (n - 1) / 32; j_tile++) {
    for (long k_tile = 0; k_tile <= (m - 1) / 32; k_tile++) {
      for (long i_tile = 0; i_tile <= k_tile; i_tile++) {
        for (long i_tile_2 = 4 * i_tile; i_tile_2 <= polysched_min(4 * i_tile + 3, polysched_floordiv(m - 2, 8)); i_tile_2++) {
          for (long j_tile_2 = 2 * j_tile; j_tile_2 <= polysched_min(2 * j_tile + 1, (n - 1) / 16); j_tile_2++) {
            if (i_tile == k_tile) {
              /* points of one tile */
              for (long k = 8 * i_tile_2; k < polysched_min(m, 8 * i_tile_2 + 8); k++) {
                for (long i = 8 * i_tile_2; i < k; i++) {
                  const long j_end = polysched_min(n, 16 * j_tile_2 + 16);
                  for (long j = 16 * j_tile_2; j < j_end - 7; j += 8)
                    *(polysched_f64x8 *)&B[i][j] += A[i][k] * *(polysched_f64x8 *)&B[k][j];
                  if ((j_end - 16 * j_tile_2) % 8 >= 4) {
                    const long j = j_end - (j_end - 16 * j_tile_2) % 8;
                    *(polysched_f64x4 *)&B[i][j] += A[i][k] * *(polysched_f64x4 *)&B[k][j];
                  }
                  for (long j = j_end - (j_end - 16 * j_tile_2) % 4; j < j_end; j++)
                    B[i][j] += A[i][k] * B[k][j];
                }
                {
                  const long j_end = polysched_min(n, 16 * j_tile_2 + 16);
                  for (long j = 16 * j_tile_2; j < j_end - 7; j += 8)
                    *(polysched_f64x8 *)&B[k][j] *= A[k][k];
                  if ((j_end - 16 * j_tile_2) % 8 >= 4) {
                    const long j = j_end - (j_end - 16 * j_tile_2) % 8;
                    *(polysched_f64x4 *)&B[k][j] *= A[k][k];
                  }
                  for (long j = j_end - (j_end - 16 * j_tile_2) % 4; j < j_end; j++)
                    B[k][j] *= A[k][k];
                }
              }
            }
            {
              const long j_end = polysched_min(16 * j_tile_2 + 16, n);
              if (n >= 16 * j_tile_2 + 16) {
                /* register tile of 8 x 16 */
                const long i = 8 * i_tile_2;
                const long j = 16 * j_tile_2;
                if (polysched_min(m, 32 * k_tile + 32) > polysched_max(32 * k_tile, 8 * i_tile_2 + 8)) {
                  polysched_f64x8 B_0_0 = *(polysched_f64x8 *)&B[i][j];
                  polysched_f64x8 B_0_8 = *(polysched_f64x8 *)&B[i][j + 8];
                  polysched_f64x8 B_1_0 = *(polysched_f64x8 *)&B[i + 1][j];
                  polysched_f64x8 B_1_8 = *(polysched_f64x8 *)&B[i + 1][j + 8];
                  polysched_f64x8 B_2_0 = *(polysched_f64x8 *)&B[i + 2][j];
                  polysched_f64x8 B_2_8 = *(polysched_f64x8 *)&B[i + 2][j + 8];
                  polysched_f64x8 B_3_0 = *(polysched_f64x8 *)&B[i + 3][j];
                  polysched_f64x8 B_3_8 = *(polysched_f64x8 *)&B[i + 3][j + 8];
                  polysched_f64x8 B_4_0 = *(polysched_f64x8 *)&B[i + 4][j];
                  polysched_f64x8 B_4_8 = *(polysched_f64x8 *)&B[i + 4][j + 8];
                  polysched_f64x8 B_5_0 = *(polysched_f64x8 *)&B[i + 5][j];
                  polysched_f64x8 B_5_8 = *(polysched_f64x8 *)&B[i + 5][j + 8];
                  polysched_f64x8 B_6_0 = *(polysched_f64x8 *)&B[i + 6][j];
                  polysched_f64x8 B_6_8 = *(polysched_f64x8 *)&B[i + 6][j + 8];
                  polysched_f64x8 B_7_0 = *(polysched_f64x8 *)&B[i + 7][j];
                  polysched_f64x8 B_7_8 = *(polysched_f64x8 *)&B[i + 7][j + 8];
                  for (long k = polysched_max(32 * k_tile, 8 * i_tile_2 + 8); k < polysched_min(m, 32 * k_tile + 32); k++) {
                    B_0_0 += A[i][k] * *(polysched_f64x8 *)&B[k][j];
                    B_0_8 += A[i][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_1_0 += A[i + 1][k] * *(polysched_f64x8 *)&B[k][j];
                    B_1_8 += A[i + 1][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_2_0 += A[i + 2][k] * *(polysched_f64x8 *)&B[k][j];
                    B_2_8 += A[i + 2][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_3_0 += A[i + 3][k] * *(polysched_f64x8 *)&B[k][j];
                    B_3_8 += A[i + 3][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_4_0 += A[i + 4][k] * *(polysched_f64x8 *)&B[k][j];
                    B_4_8 += A[i + 4][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_5_0 += A[i + 5][k] * *(polysched_f64x8 *)&B[k][j];
                    B_5_8 += A[i + 5][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_6_0 += A[i + 6][k] * *(polysched_f64x8 *)&B[k][j];
                    B_6_8 += A[i + 6][k] * *(polysched_f64x8 *)&B[k][j + 8];
                    B_7_0 += A[i + 7][k] * *(polysched_f64x8 *)&B[k][j];
                    B_7_8 += A[i + 7][k] * *(polysched_f64x8 *)&B[k][j + 8];
                  }
                  *(polysched_f64x8 *)&B[i][j] = B_0_0;
                  *(polysched_f64x8 *)&B[i][j + 8] = B_0_8;
                  *(polysched_f64x8 *)&B[i + 1][j] = B_1_0;
                  *(polysched_f64x8 *)&B[i + 1][j + 8] = B_1_8;
                  *(polysched_f64x8 *)&B[i + 2][j] = B_2_0;
                  *(polysched_f64x8 *)&B[i + 2][j + 8] = B_2_8;
                  *(polysched_f64x8 *)&B[i + 3][j] = B_3_0;
                  *(polysched_f64x8 *)&B[i + 3][j + 8] = B_3_8;
                  *(polysched_f64x8 *)&B[i + 4][j] = B_4_0;
                  *(polysched_f64x8 *)&B[i + 4][j + 8] = B_4_8;
                  *(polysched_f64x8 *)&B[i + 5][j] = B_5_0;
                  *(polysched_f64x8 *)&B[i + 5][j + 8] = B_5_8;
                  *(polysched_f64x8 *)&B[i + 6][j] = B_6_0;
                  *(polysched_f64x8 *)&B[i + 6][j + 8] = B_6_8;
                  *(polysched_f64x8 *)&B[i + 7][j] = B_7_0;
                  *(polysched_f64x8 *)&B[i + 7][j + 8] = B_7_8;
                }
              } else {
                if ((j_end - 16 * j_tile_2) % 16 >= 8) {
                  /* register tile of 8 x 8 */
                  const long i = 8 * i_tile_2;
                  const long j = j_end - (j_end - 16 * j_tile_2) % 16;
                  if (polysched_min(m, 32 * k_tile + 32) > polysched_max(32 * k_tile, 8 * i_tile_2 + 8)) {
                    polysched_f64x8 B_0_0 = *(polysched_f64x8 *)&B[i][j];
                    polysched_f64x8 B_1_0 = *(polysched_f64x8 *)&B[i + 1][j];
                    polysched_f64x8 B_2_0 = *(polysched_f64x8 *)&B[i + 2][j];
                    polysched_f64x8 B_3_0 = *(polysched_f64x8 *)&B[i + 3][j];
                    polysched_f64x8 B_4_0 = *(polysched_f64x8 *)&B[i + 4][j];
                    polysched_f64x8 B_5_0 = *(polysched_f64x8 *)&B[i + 5][j];
                    polysched_f64x8 B_6_0 = *(polysched_f64x8 *)&B[i + 6][j];
                    polysched_f64x8 B_7_0 = *(polysched_f64x8 *)&B[i + 7][j];
                    for (long k = polysched_max(32 * k_tile, 8 * i_tile_2 + 8); k < polysched_min(m, 32 * k_tile + 32); k++) {
                      B_0_0 += A[i][k] * *(polysched_f64x8 *)&B[k][j];
                      B_1_0 += A[i + 1][k] * *(polysched_f64x8 *)&B[k][j];
                      B_2_0 += A[i + 2][k] * *(polysched_f64x8 *)&B[k][j];
                      B_3_0 += A[i + 3][k] * *(polysched_f64x8 *)&B[k][j];
                      B_4_0 += A[i + 4][k] * *(polysched_f64x8 *)&B[k][j];
                      B_5_0 += A[i + 5][k] * *(polysched_f64x8 *)&B[k][j];
                      B_6_0 += A[i + 6][k] * *(polysched_f64x8 *)&B[k][j];
                      B_7_0 += A[i + 7][k] * *(polysched_f64x8 *)&B[k][j];
                    }
                    *(polysched_f64x8 *)&B[i][j] = B_0_0;
                    *(polysched_f64x8 *)&B[i + 1][j] = B_1_0;
                    *(polysched_f64x8 *)&B[i + 2][j] = B_2_0;
                    *(polysched_f64x8 *)&B[i + 3][j] = B_3_0;
                    *(polysched_f64x8 *)&B[i + 4][j] = B_4_0;
                    *(polysched_f64x8 *)&B[i + 5][j] = B_5_0;
                    *(polysched_f64x8 *)&B[i + 6][j] = B_6_0;
                    *(polysched_f64x8 *)&B[i + 7][j] = B_7_0;
                  }
                }
                if ((j_end - 16 * j_tile_2) % 8 >= 4) {
                  /* register tile of 8 x 4 */
                  const long i = 8 * i_tile_2;
                  const long j = j_end - (j_end - 16 * j_tile_2) % 8;
                  if (polysched_min(m, 32 * k_tile + 32) > polysched_max(32 * k_tile, 8 * i_tile_2 + 8)) {
                    polysched_f64x4 B_0_0 = *(polysched_f64x4 *)&B[i][j];
                    polysched_f64x4 B_1_0 = *(polysched_f64x4 *)&B[i + 1][j];
                    polysched_f64x4 B_2_0 = *(polysched_f64x4 *)&B[i + 2][j];
                    polysched_f64x4 B_3_0 = *(polysched_f64x4 *)&B[i + 3][j];
                    polysched_f64x4 B_4_0 = *(polysched_f64x4 *)&B[i + 4][j];
                    polysched_f64x4 B_5_0 = *(polysched_f64x4 *)&B[i + 5][j];
                    polysched_f64x4 B_6_0 = *(polysched_f64x4 *)&B[i + 6][j];
                    polysched_f64x4 B_7_0 = *(polysched_f64x4 *)&B[i + 7][j];
                    for (long k = polysched_max(32 * k_tile, 8 * i_tile_2 + 8); k < polysched_min(m, 32 * k_tile + 32); k++) {
                      B_0_0 += A[i][k] * *(polysched_f64x4 *)&B[k][j];
                      B_1_0 += A[i + 1][k] * *(polysched_f64x4 *)&B[k][j];
                      B_2_0 += A[i + 2][k] * *(polysched_f64x4 *)&B[k][j];
                      B_3_0 += A[i + 3][k] * *(polysched_f64x4 *)&B[k][j];
                      B_4_0 += A[i + 4][k] * *(polysched_f64x4 *)&B[k][j];
                      B_5_0 += A[i + 5][k] * *(polysched_f64x4 *)&B[k][j];
                      B_6_0 += A[i + 6][k] * *(polysched_f64x4 *)&B[k][j];
                      B_7_0 += A[i + 7][k] * *(polysched_f64x4 *)&B[k][j];
                    }
                    *(polysched_f64x4 *)&B[i][j] = B_0_0;
                    *(polysched_f64x4 *)&B[i + 1][j] = B_1_0;
                    *(polysched_f64x4 *)&B[i + 2][j] = B_2_0;
                    *(polysched_f64x4 *)&B[i + 3][j] = B_3_0;
                    *(polysched_f64x4 *)&B[i + 4][j] = B_4_0;
                    *(polysched_f64x4 *)&B[i + 5][j] = B_5_0;
                    *(polysched_f64x4 *)&B[i + 6][j] = B_6_0;
                    *(polysched_f64x4 *)&B[i + 7][j] = B_7_0;
                  }
                }
                for (long j = j_end - (j_end - 16 * j_tile_2) % 4; j < j_end; j++) {
                  /* register tile of 8 x 1 */
                  const long i = 8 * i_tile_2;
                  if (polysched_min(m, 32 * k_tile + 32) > polysched_max(32 * k_tile, 8 * i_tile_2 + 8)) {
                    double B_0_0 = B[i][j];
                    double B_1_0 = B[i + 1][j];
                    double B_2_0 = B[i + 2][j];
                    double B_3_0 = B[i + 3][j];
                    double B_4_0 = B[i + 4][j];
                    double B_5_0 = B[i + 5][j];
                    double B_6_0 = B[i + 6][j];
                    double B_7_0 = B[i + 7][j];
                    for (long k = polysched_max(32 * k_tile, 8 * i_tile_2 + 8); k < polysched_min(m, 32 * k_tile + 32); k++) {
                      B_0_0 += A[i][k] * B[k][j];
                      B_1_0 += A[i + 1][k] * B[k][j];
                      B_2_0 += A[i + 2][k] * B[k][j];
                      B_3_0 += A[i + 3][k] * B[k][j];
                      B_4_0 += A[i + 4][k] * B[k][j];
                      B_5_0 += A[i + 5][k] * B[k][j];
                      B_6_0 += A[i + 6][k] * B[k][j];
                      B_7_0 += A[i + 7][k] * B[k][j];
                    }
                    B[i][j] = B_0_0;
                    B[i + 1][j] = B_1_0;
                    B[i + 2][j] = B_2_0;
                    B[i + 3][j] = B_3_0;
                    B[i + 4][j] = B_4_0;
                    B[i + 5][j] = B_5_0;
                    B[i + 6][j] = B_6_0;
                    B[i + 7][j] = B_7_0;
                  }
                }
              }
            }
          }
        }
        if (32 * k_tile + 25 >= m && i_tile == k_tile && (m - 1) % 8 == 0) {
          for (long j_tile_2 = 2 * j_tile; j_tile_2 <= polysched_min(2 * j_tile + 1, (n - 1) / 16); j_tile_2++) {
            const long j_end = polysched_min(n, 16 * j_tile_2 + 16);
            /* points of one tile */
            for (long j = 16 * j_tile_2; j < j_end - 7; j += 8)
              *(polysched_f64x8 *)&B[m - 1][j] *= A[m - 1][m - 1];
            if ((j_end - 16 * j_tile_2) % 8 >= 4) {
              const long j = j_end - (j_end - 16 * j_tile_2) % 8;
              *(polysched_f64x4 *)&B[m - 1][j] *= A[m - 1][m - 1];
            }
            /* points of one tile */
            for (long j = j_end - (j_end - 16 * j_tile_2) % 4; j < j_end; j++)
              B[m - 1][j] *= A[m - 1][m - 1];
          }
        }
      }
    }
    /* points of one tile */
    for (long i = 0; i < m; i++) {
      const long j_end = polysched_min(n, 32 * j_tile + 32);
      for (long j = 32 * j_tile; j < j_end - 7; j += 8)
        *(polysched_f64x8 *)&B[i][j] = alpha * *(polysched_f64x8 *)&B[i][j];
      if ((j_end - 32 * j_tile) % 8 >= 4) {
        const long j = j_end - (j_end - 32 * j_tile) % 8;
        *(polysched_f64x4 *)&B[i][j] = alpha * *(polysched_f64x4 *)&B[i][j];
      }
      for (long j = j_end - (j_end - 32 * j_tile) % 4; j < j_end; j++)
        B[i][j] = alpha * B[i][j];
    }
  }
}
#undef polysched_min
#undef polysched_max
#undef polysched_floordiv
