/* A finite impulse response filter that keeps every third sample.
 *
 *     y_i = sum_{k < taps} c_k x_(3i+k),   0 <= i < n
 *
 * The output index runs in steps of three over the input, backwards.
 */
void fir_decimate(int n, int taps, float c[taps], float x[3 * n + taps], float y[n])
{
    int i, k;
#pragma scop
    for (i = 3 * n - 3; i > -1; i -= 3) {
        y[i / 3] = 0.0f;
        for (k = taps - 1; k != -1; --k)
            y[i / 3] += c[k] * x[i + k];
    }
#pragma endscop
}
