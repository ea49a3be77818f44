for (long j = 0; j < n; j++) {
  for (long k = 0; k < j; k++)
    A[j][j] -= A[j][k] * A[j][k];
  A[j][j] = sqrt(A[j][j]);
  #pragma omp parallel for
  for (long i = j + 1; i < n; i++) {
    for (long k = 0; k < j; k++)
      A[i][j] -= A[i][k] * A[j][k];
    A[i][j] /= A[j][j];
  }
}
