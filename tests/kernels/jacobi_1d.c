/* Three-point averaging, two steps per iteration through a second line.
 *
 *     b_i = (a_(i-1) + a_i + a_(i+1)) / 3,   a_i = (b_(i-1) + b_i + b_(i+1)) / 3
 */
void jacobi_1d(int steps, int n, float a[n], float b[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
        for (int i = 1; i < n - 1; i++)
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
    }
#pragma endscop
}
