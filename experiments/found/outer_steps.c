/* How many numbers divide each: loops by steps of an outer counter, as in a sieve, most of them short. */
void outer_steps(int n, int *count) {
  int i, j;
  for (i = 1; i <= n; i++)
    for (j = i; j <= n; j += i)
      count[j]++;
}
