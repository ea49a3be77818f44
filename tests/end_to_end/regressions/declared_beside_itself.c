void f(int n, int m, double A[n + 40], double B[n + 8][n + 8])
{
    int k;
#pragma scop
    for (int i = 0; i < 8; i++) {
        k = 2 * i + 1;
        for (int j = i; j < 8; j++) {
            A[k] += B[j][i];
            k += j + 1 - i;
        }
    }
#pragma endscop
}
