void f(int n, int m, unsigned short B[2 * m + 1][2 * m + 1])
{
    int i, j;
#pragma scop
    for (i = 0; i <= m - 3; i++)
        for (j = 0; j <= m - 3; j++)
            if (j - n - 1 >= 0)
                B[2 * i + 1][2 * j] = B[i][i + 1];
#pragma endscop
}
