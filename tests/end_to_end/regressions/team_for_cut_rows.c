void f(int n, int m, unsigned A[n + 5][2 * n + 1][m + 2 * n + 3])
{
    int i, j, k;
#pragma scop
    for (i = 1; i <= 4; i += 3)
        for (j = i + 1; j <= n - 2; j++)
            for (k = 0; k <= m - 3; k++)
                if (-j - k + n >= 0)
                    A[j][2 * j + 1][k + 2] = 3u;
#pragma endscop
}
