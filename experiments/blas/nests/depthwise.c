/* Y <- Y + the R x R convolution of each channel of X (with a border) with its own filter; channels first. */
void depthwise(TYPE Y[K][H][H], const TYPE X[K][H + R - 1][H + R - 1], const TYPE W[K][R][R])
{
#pragma scop
    for (int c = 0; c < K; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < H; x++)
                for (int r = 0; r < R; r++)
                    for (int s = 0; s < R; s++)
                        Y[c][y][x] += X[c][y + r][x + s] * W[c][r][s];
#pragma endscop
}
