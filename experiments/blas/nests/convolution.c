/* Y <- Y + the R x R convolution of X (with a border) and W; channels first. */
void convolution(TYPE Y[N][H][H], const TYPE X[K][H + R - 1][H + R - 1], const TYPE W[N][K][R][R])
{
#pragma scop
    for (int o = 0; o < N; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < H; x++)
                for (int c = 0; c < K; c++)
                    for (int r = 0; r < R; r++)
                        for (int s = 0; s < R; s++)
                            Y[o][y][x] += X[c][y + r][x + s] * W[o][c][r][s];
#pragma endscop
}
