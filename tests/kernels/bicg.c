/* The two products of a step of the biconjugate gradient method.
 *
 *     s = A' r,   q = A p,   A is n x m
 */
void bicg(int n, int m, double A[n][m], double s[m], double q[n], double p[m], double r[n])
{
    int i, j;
#pragma scop
    for (j = 0; j < m; j += 1)
        s[j] = 0.0;
    for (i = 0; i < n; i += 1) {
        q[i] = 0.0;
        for (j = 0; j < m; j += 1) {
            s[j] += r[i] * A[i][j];
            q[i] += A[i][j] * p[j];
        }
    }
#pragma endscop
}
