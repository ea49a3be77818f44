/* One row of a product of quantised matrices, in groups of GS, on the caller's threads (after llama2.c's runq.c). */
void quantised(int n, int d, int GS, float *out, const signed char *x, const signed char *w, const float *xs,
               const float *ws) {
  int i;
#pragma omp parallel for private(i)
  for (i = 0; i < d; i++) {
    float val = 0.0f;
    int ival = 0;
    int in = i * n;
    int j;
    for (j = 0; j <= n - GS; j += GS) {
      int k;
      for (k = 0; k < GS; k++)
        ival += x[j + k] * w[in + j + k];
      val += (float)ival * ws[(in + j) / GS] * xs[j / GS];
      ival = 0;
    }
    out[i] = val;
  }
}
