/* A helper that sums a row, called for every row from the caller's parallel loop. */
float row_sum(int n, const float *restrict a, const float *restrict b, float *restrict c) {
  int k;
#pragma scop
  for (k = 0; k < n; k++)
    c[k] = a[k] * b[k] + c[k];
#pragma endscop
  return c[0];
}

void rows_on_threads(int m, int n, const float *a, const float *b, float *c, float *out) {
  int i;
#pragma omp parallel for
  for (i = 0; i < m; i++)
    out[i] = row_sum(n, a + (long)i * n, b + (long)i * n, c + (long)i * n);
}
