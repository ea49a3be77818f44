/* The length of a strided loop is a floor; the test of --safe named a macro that was not defined. */
void f(int n, int m, double A[n + 1], double B[m + 1])
{
    int i;
#pragma scop
    for (i = 1; i <= n - 1; i += 3) {
        A[i] = A[i - 1] + 1.0;
    }
    for (i = 0; i <= m - 1; i++) {
        B[i] = 2.0;
    }
#pragma endscop
}
