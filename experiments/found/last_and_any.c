/* Two reductions over one array: the index of the last zero, and whether anything is negative. */
void last_and_any(int m, int n, int S[m][n], int found[2]) {
  int last = -1, any = 0;
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      if (S[j][i] == 0)
        last = i;
      any = S[j][i] < 0 ? 1 : any;
    }
#pragma endscop
  found[0] = last;
  found[1] = any;
}
