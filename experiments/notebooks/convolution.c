/* A 3x3 convolution of bytes, 8 channels out of 12. */
typedef signed char int8_t;
typedef int int32_t;

void convolution(int32_t out[8][14][14], const int8_t in[12][16][16], const int8_t weight[8][12][3][3])
{
#pragma scop
    for (int f = 0; f < 8; f++)
        for (int y = 0; y < 14; y++)
            for (int x = 0; x < 14; x++)
                for (int c = 0; c < 12; c++)
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++)
                            out[f][y][x] += in[c][y + p][x + q] * weight[f][c][p][q];
#pragma endscop
}
