"""Programs whose few work items reduce many values, for the tests of the device rooms."""

TOTAL = ("void f(int n, int s[1], int A[n]) {\n#pragma scop\n  s[0] = 3;\n  for (int i = 0; i < n; i++)\n"
         "    s[0] += A[i];\n#pragma endscop\n}\n")
ROWS = ("void f(int n, int m, int y[n], int A[n][m]) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n    y[i] = i;\n"
        "    for (int j = m - 1; j >= 1; j -= 3)\n      y[i] -= A[i][j] * A[i][0];\n  }\n#pragma endscop\n}\n")
"""Down, every third value; subtracted."""
TWICE = ("void f(int n, int m, long y[n], long z[n], short A[n][m]) {\n#pragma scop\n"
         "  for (int i = 0; i < n; i++) {\n    y[i] = -5;\n    for (int j = 0; j < m; j++)\n"
         "      y[i] = A[i][j] > y[i] ? A[i][j] : y[i];\n    z[i] = 0;\n    for (int j = 0; j < m; j++)\n"
         "      z[i] += A[i][j] - y[i];\n  }\n#pragma endscop\n}\n")
"""The second team reads what one item of the first wrote."""
PLANE = ("void f(int n, int m, unsigned s[1], unsigned A[n][m]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
         "    for (int j = i; j < m; j++)\n      s[0] ^= A[i][j] + i;\n#pragma endscop\n}\n")
NARROW = ("void f(int n, int m, signed char y[n], unsigned char z[n], signed char A[n][m]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      y[i] *= A[i][j];\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      z[i] += A[i][j];\n"
          "#pragma endscop\n}\n")
"""Products and sums that wrap."""
FLOATS = ("void f(int n, int m, float y[n], float A[n][m], float x[m]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++) {\n    y[i] = 0;\n    for (int j = 0; j < m; j++)\n"
          "      y[i] += A[i][j] * x[j];\n  }\n#pragma endscop\n}\n")
PREFIX = ("void f(int n, int s[1], int A[n], int B[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
          "    s[0] += A[i];\n    B[i] = s[0];\n  }\n#pragma endscop\n}\n")
"""Every value of the sum is read."""
INTEGERS = {"total": (TOTAL, {"n": 1000}), "rows": (ROWS, {"n": 7, "m": 1031}), "twice": (TWICE, {"n": 5, "m": 600}),
            "plane": (PLANE, {"n": 300, "m": 301}), "narrow": (NARROW, {"n": 3, "m": 700})}
