#define polysched_min(a, b) ((a) < (b) ? (a) : (b))
{
  typedef float polysched_f32x16 __attribute__((vector_size(64), aligned(4), may_alias));
  typedef float polysched_f32x8 __attribute__((vector_size(32), aligned(4), may_alias));
  typedef float polysched_f32x4 __attribute__((vector_size(16), aligned(4), may_alias));
  /* band 0: tiles */
  for (long i_tile = 0; i_tile <= (n - 1) / 4; i_tile++) {
    for (long j_tile = 0; j_tile <= (m - 1) / 32; j_tile++) {
      const long i_end = polysched_min(4 * i_tile + 4, n);
      const long j_end = polysched_min(32 * j_tile + 32, m);
      if (n >= 4 * i_tile + 4) {
        if (m >= 32 * j_tile + 32) {
          /* register tile of 4 x 32 */
          const long i = 4 * i_tile;
          const long j = 32 * j_tile;
          polysched_f32x16 C_0_0 = *(polysched_f32x16 *)&C[i][j];
          polysched_f32x16 C_0_16 = *(polysched_f32x16 *)&C[i][j + 16];
          polysched_f32x16 C_1_0 = *(polysched_f32x16 *)&C[i + 1][j];
          polysched_f32x16 C_1_16 = *(polysched_f32x16 *)&C[i + 1][j + 16];
          polysched_f32x16 C_2_0 = *(polysched_f32x16 *)&C[i + 2][j];
          polysched_f32x16 C_2_16 = *(polysched_f32x16 *)&C[i + 2][j + 16];
          polysched_f32x16 C_3_0 = *(polysched_f32x16 *)&C[i + 3][j];
          polysched_f32x16 C_3_16 = *(polysched_f32x16 *)&C[i + 3][j + 16];
          for (long k = 0; k < p; k++) {
            const float A_0 = 1.5f * A[i][k];
            const polysched_f32x16 B_0 = *(volatile polysched_f32x16 *)&B[k][j];
            C_0_0 += A_0 * B_0;
            const polysched_f32x16 B_1 = *(volatile polysched_f32x16 *)&B[k][j + 16];
            C_0_16 += A_0 * B_1;
            const float A_1 = 1.5f * A[i + 1][k];
            C_1_0 += A_1 * B_0;
            C_1_16 += A_1 * B_1;
            const float A_2 = 1.5f * A[i + 2][k];
            C_2_0 += A_2 * B_0;
            C_2_16 += A_2 * B_1;
            const float A_3 = 1.5f * A[i + 3][k];
            C_3_0 += A_3 * B_0;
            C_3_16 += A_3 * B_1;
          }
          *(polysched_f32x16 *)&C[i][j] = C_0_0;
          *(polysched_f32x16 *)&C[i][j + 16] = C_0_16;
          *(polysched_f32x16 *)&C[i + 1][j] = C_1_0;
          *(polysched_f32x16 *)&C[i + 1][j + 16] = C_1_16;
          *(polysched_f32x16 *)&C[i + 2][j] = C_2_0;
          *(polysched_f32x16 *)&C[i + 2][j + 16] = C_2_16;
          *(polysched_f32x16 *)&C[i + 3][j] = C_3_0;
          *(polysched_f32x16 *)&C[i + 3][j + 16] = C_3_16;
        } else {
          if ((j_end - 32 * j_tile) % 32 >= 16) {
            /* register tile of 4 x 16 */
            const long i = 4 * i_tile;
            const long j = j_end - (j_end - 32 * j_tile) % 32;
            polysched_f32x16 C_0_0 = *(polysched_f32x16 *)&C[i][j];
            polysched_f32x16 C_1_0 = *(polysched_f32x16 *)&C[i + 1][j];
            polysched_f32x16 C_2_0 = *(polysched_f32x16 *)&C[i + 2][j];
            polysched_f32x16 C_3_0 = *(polysched_f32x16 *)&C[i + 3][j];
            for (long k = 0; k < p; k++) {
              const float A_0 = 1.5f * A[i][k];
              const polysched_f32x16 B_0 = *(volatile polysched_f32x16 *)&B[k][j];
              C_0_0 += A_0 * B_0;
              const float A_1 = 1.5f * A[i + 1][k];
              C_1_0 += A_1 * B_0;
              const float A_2 = 1.5f * A[i + 2][k];
              C_2_0 += A_2 * B_0;
              const float A_3 = 1.5f * A[i + 3][k];
              C_3_0 += A_3 * B_0;
            }
            *(polysched_f32x16 *)&C[i][j] = C_0_0;
            *(polysched_f32x16 *)&C[i + 1][j] = C_1_0;
            *(polysched_f32x16 *)&C[i + 2][j] = C_2_0;
            *(polysched_f32x16 *)&C[i + 3][j] = C_3_0;
          }
          if ((j_end - 32 * j_tile) % 16 >= 8) {
            /* register tile of 4 x 8 */
            const long i = 4 * i_tile;
            const long j = j_end - (j_end - 32 * j_tile) % 16;
            polysched_f32x8 C_0_0 = *(polysched_f32x8 *)&C[i][j];
            polysched_f32x8 C_1_0 = *(polysched_f32x8 *)&C[i + 1][j];
            polysched_f32x8 C_2_0 = *(polysched_f32x8 *)&C[i + 2][j];
            polysched_f32x8 C_3_0 = *(polysched_f32x8 *)&C[i + 3][j];
            for (long k = 0; k < p; k++) {
              const float A_0 = 1.5f * A[i][k];
              const polysched_f32x8 B_0 = *(volatile polysched_f32x8 *)&B[k][j];
              C_0_0 += A_0 * B_0;
              const float A_1 = 1.5f * A[i + 1][k];
              C_1_0 += A_1 * B_0;
              const float A_2 = 1.5f * A[i + 2][k];
              C_2_0 += A_2 * B_0;
              const float A_3 = 1.5f * A[i + 3][k];
              C_3_0 += A_3 * B_0;
            }
            *(polysched_f32x8 *)&C[i][j] = C_0_0;
            *(polysched_f32x8 *)&C[i + 1][j] = C_1_0;
            *(polysched_f32x8 *)&C[i + 2][j] = C_2_0;
            *(polysched_f32x8 *)&C[i + 3][j] = C_3_0;
          }
          if ((j_end - 32 * j_tile) % 8 >= 4) {
            /* register tile of 4 x 4 */
            const long i = 4 * i_tile;
            const long j = j_end - (j_end - 32 * j_tile) % 8;
            polysched_f32x4 C_0_0 = *(polysched_f32x4 *)&C[i][j];
            polysched_f32x4 C_1_0 = *(polysched_f32x4 *)&C[i + 1][j];
            polysched_f32x4 C_2_0 = *(polysched_f32x4 *)&C[i + 2][j];
            polysched_f32x4 C_3_0 = *(polysched_f32x4 *)&C[i + 3][j];
            for (long k = 0; k < p; k++) {
              const float A_0 = 1.5f * A[i][k];
              const polysched_f32x4 B_0 = *(volatile polysched_f32x4 *)&B[k][j];
              C_0_0 += A_0 * B_0;
              const float A_1 = 1.5f * A[i + 1][k];
              C_1_0 += A_1 * B_0;
              const float A_2 = 1.5f * A[i + 2][k];
              C_2_0 += A_2 * B_0;
              const float A_3 = 1.5f * A[i + 3][k];
              C_3_0 += A_3 * B_0;
            }
            *(polysched_f32x4 *)&C[i][j] = C_0_0;
            *(polysched_f32x4 *)&C[i + 1][j] = C_1_0;
            *(polysched_f32x4 *)&C[i + 2][j] = C_2_0;
            *(polysched_f32x4 *)&C[i + 3][j] = C_3_0;
          }
          for (long j = j_end - (j_end - 32 * j_tile) % 4; j < j_end; j++) {
            /* register tile of 4 x 1 */
            const long i = 4 * i_tile;
            float C_0_0 = C[i][j];
            float C_1_0 = C[i + 1][j];
            float C_2_0 = C[i + 2][j];
            float C_3_0 = C[i + 3][j];
            for (long k = 0; k < p; k++) {
              C_0_0 += 1.5f * A[i][k] * B[k][j];
              C_1_0 += 1.5f * A[i + 1][k] * B[k][j];
              C_2_0 += 1.5f * A[i + 2][k] * B[k][j];
              C_3_0 += 1.5f * A[i + 3][k] * B[k][j];
            }
            C[i][j] = C_0_0;
            C[i + 1][j] = C_1_0;
            C[i + 2][j] = C_2_0;
            C[i + 3][j] = C_3_0;
          }
        }
      } else {
        for (long i = 4 * i_tile; i < i_end; i++) {
          if (m >= 32 * j_tile + 32) {
            /* register tile of 1 x 32 */
            const long j = 32 * j_tile;
            polysched_f32x16 C_0_0 = *(polysched_f32x16 *)&C[i][j];
            polysched_f32x16 C_0_16 = *(polysched_f32x16 *)&C[i][j + 16];
            for (long k = 0; k < p; k++) {
              const float A_0 = 1.5f * A[i][k];
              const polysched_f32x16 B_0 = *(polysched_f32x16 *)&B[k][j];
              C_0_0 += A_0 * B_0;
              const polysched_f32x16 B_1 = *(polysched_f32x16 *)&B[k][j + 16];
              C_0_16 += A_0 * B_1;
            }
            *(polysched_f32x16 *)&C[i][j] = C_0_0;
            *(polysched_f32x16 *)&C[i][j + 16] = C_0_16;
          } else {
            if ((j_end - 32 * j_tile) % 32 >= 16) {
              /* register tile of 1 x 16 */
              const long j = j_end - (j_end - 32 * j_tile) % 32;
              polysched_f32x16 C_0_0 = *(polysched_f32x16 *)&C[i][j];
              for (long k = 0; k < p; k++) {
                const float A_0 = 1.5f * A[i][k];
                const polysched_f32x16 B_0 = *(polysched_f32x16 *)&B[k][j];
                C_0_0 += A_0 * B_0;
              }
              *(polysched_f32x16 *)&C[i][j] = C_0_0;
            }
            if ((j_end - 32 * j_tile) % 16 >= 8) {
              /* register tile of 1 x 8 */
              const long j = j_end - (j_end - 32 * j_tile) % 16;
              polysched_f32x8 C_0_0 = *(polysched_f32x8 *)&C[i][j];
              for (long k = 0; k < p; k++) {
                const float A_0 = 1.5f * A[i][k];
                const polysched_f32x8 B_0 = *(polysched_f32x8 *)&B[k][j];
                C_0_0 += A_0 * B_0;
              }
              *(polysched_f32x8 *)&C[i][j] = C_0_0;
            }
            if ((j_end - 32 * j_tile) % 8 >= 4) {
              /* register tile of 1 x 4 */
              const long j = j_end - (j_end - 32 * j_tile) % 8;
              polysched_f32x4 C_0_0 = *(polysched_f32x4 *)&C[i][j];
              for (long k = 0; k < p; k++) {
                const float A_0 = 1.5f * A[i][k];
                const polysched_f32x4 B_0 = *(polysched_f32x4 *)&B[k][j];
                C_0_0 += A_0 * B_0;
              }
              *(polysched_f32x4 *)&C[i][j] = C_0_0;
            }
            for (long j = j_end - (j_end - 32 * j_tile) % 4; j < j_end; j++) {
              /* register tile of 1 x 1 */
              float C_0_0 = C[i][j];
              for (long k = 0; k < p; k++)
                C_0_0 += 1.5f * A[i][k] * B[k][j];
              C[i][j] = C_0_0;
            }
          }
        }
      }
    }
  }
}
#undef polysched_min
