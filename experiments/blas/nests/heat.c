/* STEPS double steps of the heat equation on a cube; the grids swap roles. */
void heat(TYPE a[N][N][N], TYPE b[N][N][N])
{
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    b[i][j][k] = (TYPE)0.125 * (a[i + 1][j][k] - (TYPE)2 * a[i][j][k] + a[i - 1][j][k])
                        + (TYPE)0.125 * (a[i][j + 1][k] - (TYPE)2 * a[i][j][k] + a[i][j - 1][k])
                        + (TYPE)0.125 * (a[i][j][k + 1] - (TYPE)2 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    a[i][j][k] = (TYPE)0.125 * (b[i + 1][j][k] - (TYPE)2 * b[i][j][k] + b[i - 1][j][k])
                        + (TYPE)0.125 * (b[i][j + 1][k] - (TYPE)2 * b[i][j][k] + b[i][j - 1][k])
                        + (TYPE)0.125 * (b[i][j][k + 1] - (TYPE)2 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
    }
#pragma endscop
}
