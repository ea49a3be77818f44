/* y += a x with the strides of BLAS. */
void strided_axpy(int n, double a, const double *restrict x, int incx, double *restrict y, int incy) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i * incy] += a * x[i * incx];
#pragma endscop
}
