void f(int n, int m, double A[n + 8], double B[n + 8], double C[n + 8])
{
#pragma scop
    for (int i = 0; i <= 1; i++)
        for (int k = 0; k <= i + 1; k++) {
            B[3] += 0.5 * A[k];
            C[k] = A[k] + 1;
        }
#pragma endscop
}
