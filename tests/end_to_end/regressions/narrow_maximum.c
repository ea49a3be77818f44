/* A maximum that is cut off at every step: the steps do not change places. */
void narrow(int n, int m, unsigned B[n + 1][m + 1], unsigned char s_out[1])
{
    unsigned char s = s_out[0];
    int i, j;
#pragma scop
    for (i = 0; i <= n - 1; i++)
        for (j = 0; j <= m - 1; j++)
            s = s > 3u * B[i][j] ? s : 3u * B[i][j];
#pragma endscop
    s_out[0] = s;
}
