"""Stencils over time, for the tests of the device rooms."""

LINE = ("void f(int t, int n, float a[n], float b[n]) {\n#pragma scop\n  for (int s = 0; s < t; s++) {\n"
        "    for (int i = 1; i < n - 1; i++)\n      b[i] = a[i - 1] + 2 * a[i] - a[i + 1];\n"
        "    for (int i = 1; i < n - 1; i++)\n      a[i] = b[i];\n  }\n#pragma endscop\n}\n")
PLANE = ("void f(int t, int n, int m, float a[2][n][m]) {\n#pragma scop\n  for (int s = 0; s < t; s++)\n"
         "    for (int i = 1; i < n - 1; i++)\n      for (int j = 2; j < m - 1; j++)\n"
         "        a[(s + 1) % 2][i][j] = a[s % 2][i - 1][j] + a[s % 2][i][j - 2] - a[s % 2][i + 1][j + 1];\n"
         "#pragma endscop\n}\n")
"""One statement, slopes of their own along both dimensions."""
FAR = LINE.replace("a[i - 1] + 2 * a[i] - a[i + 1]", "a[n - 2] + a[i]")
"""A dependence of any length."""
GROWING = ("void f(int t, int n, float a[n][n]) {\n#pragma scop\n  for (int s = 0; s < t; s++)\n"
           "    for (int i = 0; i < n; i++)\n      for (int j = 0; j < n; j++)\n"
           "        a[i][j] = a[i][j] * 0.5f + s;\n#pragma endscop\n}\n")
"""No dependence leaves an element."""
