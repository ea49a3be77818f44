#define polysched_min(a, b) ((a) < (b) ? (a) : (b))
#define polysched_max(a, b) ((a) > (b) ? (a) : (b))
if (n >= 2) {
  /* band 0: wavefronts of tiles, one after the other */
  for (long wave = polysched_max(-1, -(((long)n + 13) / 16)); wave <= (n - 1) / 16; wave++) {
    /* tiles of one wavefront */
    #pragma omp parallel for schedule(dynamic)
    for (long i_rev_tile = polysched_max(wave - ((long)n + 15) / 16 + 1, -(((long)n + 13) / 16)); i_rev_tile <= polysched_min(0, wave); i_rev_tile++) {
      /* points of one tile */
      for (long j = polysched_max(polysched_max(1, -16 * i_rev_tile - 14), 16 * wave - 16 * i_rev_tile); j < polysched_min(n, 16 * wave - 16 * i_rev_tile + 16); j++) {
        for (long i_rev = polysched_max(16 * i_rev_tile, 1 - j); i_rev < polysched_min(1, 16 * i_rev_tile + 16); i_rev++) {
          t[-i_rev][j] = t[-i_rev][j] > t[-i_rev][j - 1] ? t[-i_rev][j] : t[-i_rev][j - 1];
          t[-i_rev][j] = t[-i_rev][j] > t[1 - i_rev][j] ? t[-i_rev][j] : t[1 - i_rev][j];
          if (j + i_rev >= 2) {
            t[-i_rev][j] = t[-i_rev][j] > t[1 - i_rev][j - 1] + ((base[-i_rev] & 3) + (base[j] & 3) == 3 ? 1 : 0) ? t[-i_rev][j] : t[1 - i_rev][j - 1] + ((base[-i_rev] & 3) + (base[j] & 3) == 3 ? 1 : 0);
          } else {
            t[j - 1][j] = t[j - 1][j] > t[j][j - 1] ? t[j - 1][j] : t[j][j - 1];
          }
          if (j > 1 - i_rev) {
            int t_held = t[-i_rev][j];
            for (long k = 1 - i_rev; k < j; k++)
              t_held = t_held > t[-i_rev][k] + t[k + 1][j] ? t_held : t[-i_rev][k] + t[k + 1][j];
            t[-i_rev][j] = t_held;
          }
        }
      }
    }
  }
}
#undef polysched_min
#undef polysched_max
