/* A temporary whose subscript falls as the loop's variable grows, inside a quotient: its buffer had one element. */
void temporary(int n, int m, int A[n + 5][n + 2][2 * n + 5], int B[n + 5], int C[4])
{
    int i, j, k;
#pragma scop
    for (i = 0; i <= 3; i++) {
        int T2[n + 1];
        for (j = i + 2; j <= ((n - 3) < (m - 2) ? (n - 3) : (m - 2)); j++)
            T2[j - 2] = (A[i][1][i + 1]) % 1009;
        for (j = i + 2; j <= ((n - 3) < (m - 2) ? (n - 3) : (m - 2)); j++) {
            A[2][j + 2][-i + j + 1] = ((j + 2) + (j + 1) + A[j + 3][j + 2][3] + T2[j - 2]) % 1009;
            int T1[n + 1];
            for (k = 1; k <= j; k++)
                T1[k - 1] = (3 * B[i + 1]) % 1009;
            for (k = 1; k <= j; k++)
                A[i + 1][-j + n - 1][2 * k - 1] = (3 * C[i] + 2 * B[i] + 2 * (j) + T1[k - 1]) % 1009;
        }
    }
#pragma endscop
}
