/* Statements at 4 x - 1, 4 x, 4 x + 1 and 4 x + 2, some for each fourth q only: isl's code generator ran some of them
 * three iterations too early, ahead of the flag that they ask (Feautrier's scheduler, no tiles, no copies). */
void strides_of_two_loops(int n, int m, double A[n + m + 8], double B[2 * m + 50])
{
#pragma scop
    for (int q = 0; q < m - 1; ++q) {
        for (int x = -3; x <= 4; x++) {
            if (B[q] > A[q + 7]) {
                if (B[x - q + m + 2] > 0.2) {
                    if (q % 4 == 1) {
                        double r = 3;
                        for (int y = q + 1; y < n; y++)
                            r = 0.5 * r + B[q];
                        B[2 * q] = r;
                    } else {
                        if (q % 3 == 0) {
                            A[q + 4] = B[q];
                        } else {
                            double t[4];
                            for (int d = 0; d < 4; d++) t[d] = B[q] - n;
                            for (int d = 0; d < 4; d++) A[q + 5] = t[3 - d];
                        }
                    }
                }
            }
        }
    }
#pragma endscop
}
