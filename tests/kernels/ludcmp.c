/* Solution of a linear system by LU factors, forward and back substitution.
 *
 *     A = L U,   L y = b,   U x = y
 *
 * The factors are found row by row (Doolittle), each element with one running sum.
 */
void ludcmp(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    double sum;
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            sum = A[i][j];
            for (int k = 0; k < j; k++)
                sum -= A[i][k] * A[k][j];
            A[i][j] = sum / A[j][j];
        }
        for (int j = i; j < n; j++) {
            sum = A[i][j];
            for (int k = 0; k < i; k++)
                sum -= A[i][k] * A[k][j];
            A[i][j] = sum;
        }
    }
    for (int i = 0; i < n; i++) {
        sum = b[i];
        for (int j = 0; j < i; j++)
            sum -= A[i][j] * y[j];
        y[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        sum = y[i];
        for (int j = i + 1; j < n; j++)
            sum -= A[i][j] * x[j];
        x[i] = sum / A[i][i];
    }
#pragma endscop
}
