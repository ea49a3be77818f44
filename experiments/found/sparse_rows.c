/* A sparse matrix by a vector; nothing says that the result lies apart from what is read. */
void sparse_rows(int n, const int *p, const int *c, const double *v, const double *x, double *y) {
  int i, k;
  for (i = 0; i < n; i++) {
    y[i] = 0.0;
    for (k = p[i]; k < p[i + 1]; k++)
      y[i] += v[k] * x[c[k]];
  }
}
