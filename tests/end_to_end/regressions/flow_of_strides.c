/* isl's data-flow analysis fails on these strides; the anti dependences are those by memory then. */
void strides(int n, int m, double B[2 * m + 1][m + n + 1], double C[3 * m + 1], double s_out[1])
{
    double s = s_out[0];
    int i, j;
#pragma scop
    for (i = m - 1; i >= 2; i -= 3) {
        for (j = 2; j <= -i + n - 1; j += 2) {
            s = 0.5 * B[2 * i - 3][j + m - 1] - 0.25 * B[i - 2][-i + j + m - 3] + 0.25 * C[i - 2];
            double t1 = 0.25 * s + 0.25 * s;
            s += 0.125f * (i + 2) + 0.5 * C[3 * i - 1] + t1;
        }
    }
#pragma endscop
    s_out[0] = s;
}
