#define polysched_min(a, b) ((a) < (b) ? (a) : (b))
#define polysched_max(a, b) ((a) > (b) ? (a) : (b))
#define polysched_floordiv(n, d) ((n) / (d) - ((n) % (d) < 0))
#if defined __AVX512F__ && !defined __clang__
#define polysched_across_8(type, low, high, from, ...) ({ typedef long long v_ __attribute__((vector_size(64))); (type)__builtin_ia32_alignq512_mask((v_)(high), (v_)(low), from, (v_)(low), (unsigned char)-1); })
#else
#define polysched_across_8(type, low, high, from, ...) __builtin_shufflevector(low, high, __VA_ARGS__)
#endif
{
  typedef double polysched_f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
  typedef double polysched_f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
  if (steps >= 1 && m >= 3 && n >= 3) {
    /* band 0: wavefronts of tiles, one after the other */
    for (long wave = 0; wave <= (6 * (long)steps + m - 1) / 32; wave++) {
      /* tiles of one wavefront */
      #pragma omp parallel for schedule(dynamic) if(polysched_min(polysched_min(wave + 1, (2 * (long)steps + m - 1) / 32 + 1), (16 * wave + m + 13) / 48 + 1) - polysched_max(wave - ((long)steps + 8) / 8 + 1, (wave + 1) / 3) >= 2)
      for (long i_tile = polysched_max(wave - ((long)steps + 8) / 8 + 1, (wave + 1) / 3); i_tile <= polysched_min(polysched_min(wave, (2 * (long)steps + m - 1) / 32), (16 * wave + m + 13) / 48); i_tile++) {
        for (long j_tile = polysched_max((wave + i_tile) / 2 - i_tile, 2 * i_tile + polysched_floordiv(8 * wave + 8 * i_tile - m - 5, 16) - wave); j_tile <= polysched_min(polysched_min((2 * (long)steps + n - 1) / 32, (8 * wave + 8 * i_tile + n + 20) / 32), (16 * wave + 16 * i_tile + n + 13) / 32 - i_tile); j_tile++) {
          /* points of one tile */
          for (long t = polysched_max(polysched_max(polysched_max(1, 8 * wave - 8 * i_tile), 16 * i_tile + m / 2 - m + 1), 16 * j_tile + n / 2 - n + 1); t <= polysched_min(steps, 8 * wave - 8 * i_tile + 7); t++) {
            {
              const long i_first = polysched_max(polysched_max(32 * i_tile - 2 * t, 32 * j_tile - 2 * t - n + 3), 1);
              const long i_end = polysched_min(polysched_min(32 * i_tile - 2 * t + 32, m - 1), 16 * j_tile + m - t + 14);
              for (long i = i_first; i < i_end - 1; i += 2) {
                const long j_first = polysched_max(32 * j_tile - 2 * t, 1);
                const long j_end = polysched_min(32 * j_tile - 2 * t + 32, n - 1);
                if (j_end - j_first >= 8) {
                  {
                    const long j = j_first;
                    const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                    const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                    const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                    const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                    const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                    *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                    const polysched_f64x8 a_5 = *(polysched_f64x8 *)&a[i + 1][j - 1];
                    const polysched_f64x8 a_6 = *(polysched_f64x8 *)&a[i + 1][j + 1];
                    const polysched_f64x8 a_7 = *(polysched_f64x8 *)&a[i + 2][j];
                    *(polysched_f64x8 *)&b[i + 1][j] = 0.2 * (a_4 + a_5 + a_6 + a_0 + a_7);
                  }
                  {
                    const long j_vectors = j_first + (long)((64 - (unsigned long)&b[i][j_first] % 64) / 8);
                    if (j_end - 14 > j_vectors) {
                      const polysched_f64x8 a_first_row_0 = *(polysched_f64x8 *)&a[i][j_vectors - 1];
                      polysched_f64x8 a_before_row_0 = __builtin_shufflevector(a_first_row_0, a_first_row_0, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 a_here_row_0 = *(polysched_f64x8 *)&a[i][j_vectors];
                      const polysched_f64x8 a_first_row_1 = *(polysched_f64x8 *)&a[i + 1][j_vectors - 1];
                      polysched_f64x8 a_before_row_1 = __builtin_shufflevector(a_first_row_1, a_first_row_1, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 a_here_row_1 = *(polysched_f64x8 *)&a[i + 1][j_vectors];
                      for (long j = j_vectors; j < j_end - 14; j += 8) {
                        const polysched_f64x8 a_next_row_0 = *(polysched_f64x8 *)&a[i][j + 8];
                        const polysched_f64x8 a_back_1_row_0 = polysched_across_8(polysched_f64x8, a_before_row_0, a_here_row_0, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 a_front_1_row_0 = polysched_across_8(polysched_f64x8, a_here_row_0, a_next_row_0, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 a_next_row_1 = *(polysched_f64x8 *)&a[i + 1][j + 8];
                        const polysched_f64x8 a_back_1_row_1 = polysched_across_8(polysched_f64x8, a_before_row_1, a_here_row_1, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 a_front_1_row_1 = polysched_across_8(polysched_f64x8, a_here_row_1, a_next_row_1, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i - 1][j];
                        *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_here_row_0 + a_back_1_row_0 + a_front_1_row_0 + a_0 + a_here_row_1);
                        const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i + 2][j];
                        *(polysched_f64x8 *)&b[i + 1][j] = 0.2 * (a_here_row_1 + a_back_1_row_1 + a_front_1_row_1 + a_here_row_0 + a_1);
                        a_before_row_0 = a_here_row_0;
                        a_here_row_0 = a_next_row_0;
                        a_before_row_1 = a_here_row_1;
                        a_here_row_1 = a_next_row_1;
                      }
                    }
                    for (long j = polysched_max(j_vectors, j_end - (j_end - j_vectors - 7) % 8 - 7); j < j_end - 8; j += 8) {
                      const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                      const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                      const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                      const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                      const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                      *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                      const polysched_f64x8 a_5 = *(polysched_f64x8 *)&a[i + 1][j - 1];
                      const polysched_f64x8 a_6 = *(polysched_f64x8 *)&a[i + 1][j + 1];
                      const polysched_f64x8 a_7 = *(polysched_f64x8 *)&a[i + 2][j];
                      *(polysched_f64x8 *)&b[i + 1][j] = 0.2 * (a_4 + a_5 + a_6 + a_0 + a_7);
                    }
                  }
                  {
                    const long j = j_end - 8;
                    const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                    const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                    const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                    const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                    const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                    *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                    const polysched_f64x8 a_5 = *(polysched_f64x8 *)&a[i + 1][j - 1];
                    const polysched_f64x8 a_6 = *(polysched_f64x8 *)&a[i + 1][j + 1];
                    const polysched_f64x8 a_7 = *(polysched_f64x8 *)&a[i + 2][j];
                    *(polysched_f64x8 *)&b[i + 1][j] = 0.2 * (a_4 + a_5 + a_6 + a_0 + a_7);
                  }
                } else {
                  if ((j_end - j_first) % 8 >= 4) {
                    const long j = j_end - (j_end - j_first) % 8;
                    const polysched_f64x4 a_0 = *(polysched_f64x4 *)&a[i][j];
                    const polysched_f64x4 a_1 = *(polysched_f64x4 *)&a[i][j - 1];
                    const polysched_f64x4 a_2 = *(polysched_f64x4 *)&a[i][j + 1];
                    const polysched_f64x4 a_3 = *(polysched_f64x4 *)&a[i - 1][j];
                    const polysched_f64x4 a_4 = *(polysched_f64x4 *)&a[i + 1][j];
                    *(polysched_f64x4 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                    const polysched_f64x4 a_5 = *(polysched_f64x4 *)&a[i + 1][j - 1];
                    const polysched_f64x4 a_6 = *(polysched_f64x4 *)&a[i + 1][j + 1];
                    const polysched_f64x4 a_7 = *(polysched_f64x4 *)&a[i + 2][j];
                    *(polysched_f64x4 *)&b[i + 1][j] = 0.2 * (a_4 + a_5 + a_6 + a_0 + a_7);
                  }
                  for (long j = j_end - (j_end - j_first) % 4; j < j_end; j++) {
                    b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
                    b[i + 1][j] = 0.2 * (a[i + 1][j] + a[i + 1][j - 1] + a[i + 1][j + 1] + a[i][j] + a[i + 2][j]);
                  }
                }
              }
              for (long i = i_end - (i_end - i_first) % 2; i < i_end; i++) {
                const long j_first = polysched_max(32 * j_tile - 2 * t, 1);
                const long j_end = polysched_min(32 * j_tile - 2 * t + 32, n - 1);
                if (j_end - j_first >= 8) {
                  {
                    const long j = j_first;
                    const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                    const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                    const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                    const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                    const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                    *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                  }
                  {
                    const long j_vectors = j_first + (long)((64 - (unsigned long)&b[i][j_first] % 64) / 8);
                    if (j_end - 14 > j_vectors) {
                      const polysched_f64x8 a_first = *(polysched_f64x8 *)&a[i][j_vectors - 1];
                      polysched_f64x8 a_before = __builtin_shufflevector(a_first, a_first, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 a_here = *(polysched_f64x8 *)&a[i][j_vectors];
                      for (long j = j_vectors; j < j_end - 14; j += 8) {
                        const polysched_f64x8 a_next = *(polysched_f64x8 *)&a[i][j + 8];
                        const polysched_f64x8 a_back_1 = polysched_across_8(polysched_f64x8, a_before, a_here, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 a_front_1 = polysched_across_8(polysched_f64x8, a_here, a_next, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i - 1][j];
                        const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i + 1][j];
                        *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_here + a_back_1 + a_front_1 + a_0 + a_1);
                        a_before = a_here;
                        a_here = a_next;
                      }
                    }
                    for (long j = polysched_max(j_vectors, j_end - (j_end - j_vectors - 7) % 8 - 7); j < j_end - 8; j += 8) {
                      const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                      const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                      const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                      const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                      const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                      *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                    }
                  }
                  {
                    const long j = j_end - 8;
                    const polysched_f64x8 a_0 = *(polysched_f64x8 *)&a[i][j];
                    const polysched_f64x8 a_1 = *(polysched_f64x8 *)&a[i][j - 1];
                    const polysched_f64x8 a_2 = *(polysched_f64x8 *)&a[i][j + 1];
                    const polysched_f64x8 a_3 = *(polysched_f64x8 *)&a[i - 1][j];
                    const polysched_f64x8 a_4 = *(polysched_f64x8 *)&a[i + 1][j];
                    *(polysched_f64x8 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                  }
                } else {
                  if ((j_end - j_first) % 8 >= 4) {
                    const long j = j_end - (j_end - j_first) % 8;
                    const polysched_f64x4 a_0 = *(polysched_f64x4 *)&a[i][j];
                    const polysched_f64x4 a_1 = *(polysched_f64x4 *)&a[i][j - 1];
                    const polysched_f64x4 a_2 = *(polysched_f64x4 *)&a[i][j + 1];
                    const polysched_f64x4 a_3 = *(polysched_f64x4 *)&a[i - 1][j];
                    const polysched_f64x4 a_4 = *(polysched_f64x4 *)&a[i + 1][j];
                    *(polysched_f64x4 *)&b[i][j] = 0.2 * (a_0 + a_1 + a_2 + a_3 + a_4);
                  }
                  for (long j = j_end - (j_end - j_first) % 4; j < j_end; j++)
                    b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
                }
              }
            }
            {
              const long i_first = polysched_max(polysched_max(32 * i_tile - 2 * t, 32 * j_tile - 2 * t - n + 3), 2);
              const long i_end = polysched_min(polysched_min(32 * i_tile - 2 * t + 32, m), 16 * j_tile + m - t + 14);
              for (long i = i_first; i < i_end - 1; i += 2) {
                const long j_first = polysched_max(32 * j_tile - 2 * t - 1, 1);
                const long j_end = polysched_min(32 * j_tile - 2 * t + 31, n - 1);
                if (j_end - j_first >= 8) {
                  {
                    const long j = j_first;
                    const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                    const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                    const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                    const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                    const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                    *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                    const polysched_f64x8 b_5 = *(polysched_f64x8 *)&b[i][j - 1];
                    const polysched_f64x8 b_6 = *(polysched_f64x8 *)&b[i][j + 1];
                    const polysched_f64x8 b_7 = *(polysched_f64x8 *)&b[i + 1][j];
                    *(polysched_f64x8 *)&a[i][j] = 0.2 * (b_4 + b_5 + b_6 + b_0 + b_7);
                  }
                  {
                    const long j_vectors = j_first + (long)((64 - (unsigned long)&a[i - 1][j_first] % 64) / 8);
                    if (j_end - 14 > j_vectors) {
                      const polysched_f64x8 b_first_row_0 = *(polysched_f64x8 *)&b[i - 1][j_vectors - 1];
                      polysched_f64x8 b_before_row_0 = __builtin_shufflevector(b_first_row_0, b_first_row_0, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 b_here_row_0 = *(polysched_f64x8 *)&b[i - 1][j_vectors];
                      const polysched_f64x8 b_first_row_1 = *(polysched_f64x8 *)&b[i][j_vectors - 1];
                      polysched_f64x8 b_before_row_1 = __builtin_shufflevector(b_first_row_1, b_first_row_1, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 b_here_row_1 = *(polysched_f64x8 *)&b[i][j_vectors];
                      for (long j = j_vectors; j < j_end - 14; j += 8) {
                        const polysched_f64x8 b_next_row_0 = *(polysched_f64x8 *)&b[i - 1][j + 8];
                        const polysched_f64x8 b_back_1_row_0 = polysched_across_8(polysched_f64x8, b_before_row_0, b_here_row_0, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 b_front_1_row_0 = polysched_across_8(polysched_f64x8, b_here_row_0, b_next_row_0, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 b_next_row_1 = *(polysched_f64x8 *)&b[i][j + 8];
                        const polysched_f64x8 b_back_1_row_1 = polysched_across_8(polysched_f64x8, b_before_row_1, b_here_row_1, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 b_front_1_row_1 = polysched_across_8(polysched_f64x8, b_here_row_1, b_next_row_1, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 2][j];
                        *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_here_row_0 + b_back_1_row_0 + b_front_1_row_0 + b_0 + b_here_row_1);
                        const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i + 1][j];
                        *(polysched_f64x8 *)&a[i][j] = 0.2 * (b_here_row_1 + b_back_1_row_1 + b_front_1_row_1 + b_here_row_0 + b_1);
                        b_before_row_0 = b_here_row_0;
                        b_here_row_0 = b_next_row_0;
                        b_before_row_1 = b_here_row_1;
                        b_here_row_1 = b_next_row_1;
                      }
                    }
                    for (long j = polysched_max(j_vectors, j_end - (j_end - j_vectors - 7) % 8 - 7); j < j_end - 8; j += 8) {
                      const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                      const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                      const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                      const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                      const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                      *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                      const polysched_f64x8 b_5 = *(polysched_f64x8 *)&b[i][j - 1];
                      const polysched_f64x8 b_6 = *(polysched_f64x8 *)&b[i][j + 1];
                      const polysched_f64x8 b_7 = *(polysched_f64x8 *)&b[i + 1][j];
                      *(polysched_f64x8 *)&a[i][j] = 0.2 * (b_4 + b_5 + b_6 + b_0 + b_7);
                    }
                  }
                  {
                    const long j = j_end - 8;
                    const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                    const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                    const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                    const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                    const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                    *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                    const polysched_f64x8 b_5 = *(polysched_f64x8 *)&b[i][j - 1];
                    const polysched_f64x8 b_6 = *(polysched_f64x8 *)&b[i][j + 1];
                    const polysched_f64x8 b_7 = *(polysched_f64x8 *)&b[i + 1][j];
                    *(polysched_f64x8 *)&a[i][j] = 0.2 * (b_4 + b_5 + b_6 + b_0 + b_7);
                  }
                } else {
                  if ((j_end - j_first) % 8 >= 4) {
                    const long j = j_end - (j_end - j_first) % 8;
                    const polysched_f64x4 b_0 = *(polysched_f64x4 *)&b[i - 1][j];
                    const polysched_f64x4 b_1 = *(polysched_f64x4 *)&b[i - 1][j - 1];
                    const polysched_f64x4 b_2 = *(polysched_f64x4 *)&b[i - 1][j + 1];
                    const polysched_f64x4 b_3 = *(polysched_f64x4 *)&b[i - 2][j];
                    const polysched_f64x4 b_4 = *(polysched_f64x4 *)&b[i][j];
                    *(polysched_f64x4 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                    const polysched_f64x4 b_5 = *(polysched_f64x4 *)&b[i][j - 1];
                    const polysched_f64x4 b_6 = *(polysched_f64x4 *)&b[i][j + 1];
                    const polysched_f64x4 b_7 = *(polysched_f64x4 *)&b[i + 1][j];
                    *(polysched_f64x4 *)&a[i][j] = 0.2 * (b_4 + b_5 + b_6 + b_0 + b_7);
                  }
                  for (long j = j_end - (j_end - j_first) % 4; j < j_end; j++) {
                    a[i - 1][j] = 0.2 * (b[i - 1][j] + b[i - 1][j - 1] + b[i - 1][j + 1] + b[i - 2][j] + b[i][j]);
                    a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
                  }
                }
              }
              for (long i = i_end - (i_end - i_first) % 2; i < i_end; i++) {
                const long j_first = polysched_max(32 * j_tile - 2 * t - 1, 1);
                const long j_end = polysched_min(32 * j_tile - 2 * t + 31, n - 1);
                if (j_end - j_first >= 8) {
                  {
                    const long j = j_first;
                    const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                    const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                    const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                    const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                    const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                    *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                  }
                  {
                    const long j_vectors = j_first + (long)((64 - (unsigned long)&a[i - 1][j_first] % 64) / 8);
                    if (j_end - 14 > j_vectors) {
                      const polysched_f64x8 b_first = *(polysched_f64x8 *)&b[i - 1][j_vectors - 1];
                      polysched_f64x8 b_before = __builtin_shufflevector(b_first, b_first, 1, 2, 3, 4, 5, 6, 7, 0);
                      polysched_f64x8 b_here = *(polysched_f64x8 *)&b[i - 1][j_vectors];
                      for (long j = j_vectors; j < j_end - 14; j += 8) {
                        const polysched_f64x8 b_next = *(polysched_f64x8 *)&b[i - 1][j + 8];
                        const polysched_f64x8 b_back_1 = polysched_across_8(polysched_f64x8, b_before, b_here, 7, 7, 8, 9, 10, 11, 12, 13, 14);
                        const polysched_f64x8 b_front_1 = polysched_across_8(polysched_f64x8, b_here, b_next, 1, 1, 2, 3, 4, 5, 6, 7, 8);
                        const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 2][j];
                        const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i][j];
                        *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_here + b_back_1 + b_front_1 + b_0 + b_1);
                        b_before = b_here;
                        b_here = b_next;
                      }
                    }
                    for (long j = polysched_max(j_vectors, j_end - (j_end - j_vectors - 7) % 8 - 7); j < j_end - 8; j += 8) {
                      const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                      const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                      const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                      const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                      const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                      *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                    }
                  }
                  {
                    const long j = j_end - 8;
                    const polysched_f64x8 b_0 = *(polysched_f64x8 *)&b[i - 1][j];
                    const polysched_f64x8 b_1 = *(polysched_f64x8 *)&b[i - 1][j - 1];
                    const polysched_f64x8 b_2 = *(polysched_f64x8 *)&b[i - 1][j + 1];
                    const polysched_f64x8 b_3 = *(polysched_f64x8 *)&b[i - 2][j];
                    const polysched_f64x8 b_4 = *(polysched_f64x8 *)&b[i][j];
                    *(polysched_f64x8 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                  }
                } else {
                  if ((j_end - j_first) % 8 >= 4) {
                    const long j = j_end - (j_end - j_first) % 8;
                    const polysched_f64x4 b_0 = *(polysched_f64x4 *)&b[i - 1][j];
                    const polysched_f64x4 b_1 = *(polysched_f64x4 *)&b[i - 1][j - 1];
                    const polysched_f64x4 b_2 = *(polysched_f64x4 *)&b[i - 1][j + 1];
                    const polysched_f64x4 b_3 = *(polysched_f64x4 *)&b[i - 2][j];
                    const polysched_f64x4 b_4 = *(polysched_f64x4 *)&b[i][j];
                    *(polysched_f64x4 *)&a[i - 1][j] = 0.2 * (b_0 + b_1 + b_2 + b_3 + b_4);
                  }
                  for (long j = j_end - (j_end - j_first) % 4; j < j_end; j++)
                    a[i - 1][j] = 0.2 * (b[i - 1][j] + b[i - 1][j - 1] + b[i - 1][j + 1] + b[i - 2][j] + b[i][j]);
                }
              }
            }
          }
        }
      }
    }
  }
}
#undef polysched_min
#undef polysched_max
#undef polysched_floordiv
#undef polysched_across_8
