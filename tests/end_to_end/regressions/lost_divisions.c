/* An element that all iterations write, beside rows counted from the end, in tiles of two: the code generator of isl failed. */
void lost_divisions(int n, int m, double A[restrict m + 3], double C[restrict n + 20][9])
{
#pragma scop
    for (int i = 1; i <= 4; i++) {
        for (int j = 0; j <= i - 1; j++)
            A[0] = 1 - C[n - i + 8][j];
        C[i][i - 1] = 1;
    }
#pragma endscop
}
