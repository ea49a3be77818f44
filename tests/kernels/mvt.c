/* Products of a matrix and of its transpose with two vectors, in single precision.
 *
 *     a <- a + M b,   c <- c + M' d
 */
void mvt(int n, float a[n], float b[n], float c[n], float d[n], float M[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i] += M[i][j] * b[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i] += M[j][i] * d[j];
#pragma endscop
}
