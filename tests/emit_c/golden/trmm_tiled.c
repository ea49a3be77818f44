#define polysched_min(a, b) ((a) < (b) ? (a) : (b))
#define polysched_max(a, b) ((a) > (b) ? (a) : (b))
#define polysched_floordiv(n, d) ((n) / (d) - ((n) % (d) < 0))
/* band 0: tiles of 32 x 32 x 32 */
#pragma omp parallel for
for (long j_tile = 0; j_tile <= (n - 1) / 32; j_tile++) {
  for (long k_tile = 0; k_tile <= (m - 1) / 32; k_tile++) {
    for (long i_tile = 0; i_tile <= k_tile; i_tile++) {
      for (long i_tile_2 = 4 * i_tile; i_tile_2 <= polysched_min(4 * i_tile + 3, polysched_floordiv(m - 2, 8)); i_tile_2++) {
        for (long j_tile_2 = 2 * j_tile; j_tile_2 <= polysched_min(2 * j_tile + 1, (n - 1) / 16); j_tile_2++) {
          if (i_tile == k_tile) {
            /* points of one tile */
            for (long k = 8 * i_tile_2; k < polysched_min(m, 8 * i_tile_2 + 8); k++) {
              for (long i = 8 * i_tile_2; i < k; i++) {
                #pragma omp simd
                for (long j = 16 * j_tile_2; j < polysched_min(n, 16 * j_tile_2 + 16); j++)
                  B[i][j] += A[i][k] * B[k][j];
              }
              #pragma omp simd
              for (long j = 16 * j_tile_2; j < polysched_min(n, 16 * j_tile_2 + 16); j++)
                B[k][j] *= A[k][k];
            }
          }
          /* points of one tile */
          for (long k = polysched_max(32 * k_tile, 8 * i_tile_2 + 8); k < polysched_min(m, 32 * k_tile + 32); k++) {
            for (long i = 8 * i_tile_2; i < 8 * i_tile_2 + 8; i++) {
              #pragma omp simd
              for (long j = 16 * j_tile_2; j < polysched_min(n, 16 * j_tile_2 + 16); j++)
                B[i][j] += A[i][k] * B[k][j];
            }
          }
        }
      }
      if (32 * k_tile + 25 >= m && i_tile == k_tile && (m - 1) % 8 == 0) {
        for (long j_tile_2 = 2 * j_tile; j_tile_2 <= polysched_min(2 * j_tile + 1, (n - 1) / 16); j_tile_2++) {
          /* points of one tile */
          #pragma omp simd
          for (long j = 16 * j_tile_2; j < polysched_min(n, 16 * j_tile_2 + 16); j++)
            B[m - 1][j] *= A[m - 1][m - 1];
        }
      }
    }
  }
}
/* band 1: tiles of 32 x 32 */
#pragma omp parallel for
for (long i_tile = 0; i_tile <= (m - 1) / 32; i_tile++) {
  for (long j_tile = 0; j_tile <= (n - 1) / 32; j_tile++) {
    /* points of one tile */
    for (long i = 32 * i_tile; i < polysched_min(m, 32 * i_tile + 32); i++) {
      #pragma omp simd
      for (long j = 32 * j_tile; j < polysched_min(n, 32 * j_tile + 32); j++)
        B[i][j] = alpha * B[i][j];
    }
  }
}
#undef polysched_min
#undef polysched_max
#undef polysched_floordiv
