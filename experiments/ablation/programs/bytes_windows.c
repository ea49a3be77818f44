#include <stdint.h>

/* By an instruction: windows of an image, whose elements are packed through a table or read in place. */
void bytes_windows(int32_t out[restrict 32][14][14], uint8_t in[restrict 32][16][16], int8_t w[restrict 32][32][3][3]) {
#pragma scop
  for (int k = 0; k < 32; k++)
    for (int p = 0; p < 14; p++)
      for (int q = 0; q < 14; q++)
        for (int c = 0; c < 32; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[k][p][q] += in[c][p + r][q + s] * w[k][c][r][s];
#pragma endscop
}
