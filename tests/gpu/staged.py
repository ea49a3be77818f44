"""Programs whose work items share what they read, for the tests of the device rooms."""

TRIANGLE = ("void f(int n, double B[n][n], double A[n][n], double C[n][n]) {\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = i + 1; k < n; k++)\n"
            "        C[i][j] += A[k][i] * B[k][j];\n#pragma endscop\n}\n")
"""The block runs more steps than some of its work items, which wait at its barriers all the same."""
WINDOW = ("void f(int n, int m, float y[n][n], float x[n + 7][n + 7], float w[8][8]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int r = 0; r < 8; r++)\n"
          "        for (int s = 0; s < 8; s++)\n          y[i][j] += x[i + r][j + s] * w[r][s];\n#pragma endscop\n}\n")
BATCH = ("void f(int b, int n, short C[b][n][n], signed char A[b][n][n], short B[b][n][n]) {\n#pragma scop\n"
         "  for (int i = 0; i < b; i++)\n    for (int j = 0; j < n; j++)\n      for (int l = 0; l < n; l++)\n"
         "        for (int k = 0; k < n; k++)\n          C[i][j][l] += A[i][j][k] * B[i][k][l];\n#pragma endscop\n}\n")
"""The sum wraps at every step."""
TWO = ("void f(int n, double C[n][n], double D[n][n], double A[n][n], double B[n][n]) {\n#pragma scop\n"
       "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n      for (int k = 0; k < n; k++)\n"
       "        C[i][j] += A[i][k] * B[k][j];\n      for (int k = n - 1; k >= 0; k--)\n"
       "        D[i][j] += C[i][j] * A[i][k] - B[k][j];\n    }\n#pragma endscop\n}\n")
"""Two phases that stage the same arrays; the second runs down."""
OFFSET = ("void f(int n, double y[n][n], double A[n][2 * n + 9], double x[2 * n + 3]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = 2; k < n - 1; k++)\n"
          "        y[i][j] += A[j][2 * k + 5] + x[n - 1 - k + i];\n#pragma endscop\n}\n")
"""Every other element of a row; a vector whose box moves with work items and against the step."""
SWEEP = ("void f(int n, double A[n][n], double L[n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
         "    for (int j = 0; j < n; j++)\n      for (int k = 0; k < i; k++)\n        A[i][j] -= L[i][k] * A[k][j];\n"
         "#pragma endscop\n}\n")
"""A triangular solve: what is read of A other launches have written."""
THIRDS = ("void f(int n, double C[n][n], double A[n][n], double B[n][n]) {\n#pragma scop\n"
          "  for (int i = 1; i < n; i++)\n    for (int j = 0; j < n; j++)\n"
          "      for (int k = 0; k < n; k++)\n        if ((i + k) % 3 == 0)\n"
          "          C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n")
"""The steps of a block, and the elements that it reads, end where conditions say."""
DOWN = ("void f(int n, double C[n][n], double A[n][n], double B[n][n]) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = n - 1; k >= 0; k -= 4)\n"
        "        C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n")
"""The last step is a remainder."""
ABSENT = ("void f(int n, int m, double C[n][n], double D[n][n], double A[n][n], double B[3 * n][n]) {\n"
          "#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n      D[i][j] = 1;\n"
          "      if (m >= 10)\n        for (int k = 0; k < n; k++)\n          C[i][j] += A[i][k] * B[k][j];\n    }\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      if (m >= 20)\n"
          "        D[i][j] += B[2 * n + i][j];\n#pragma endscop\n}\n")
"""With a small m the device has no row of B."""
SHRINKING = ("void f(float C[48][32], float W[33][32], float V[32][32]) {\n#pragma scop\n"
             "  for (int k = 0; k < 32; k++)\n    for (int i = k + 1; i < 33; i++)\n"
             "      for (int j = 0; j < 32; j++)\n        for (int l = 0; l < 32; l++)\n"
             "          C[i][j] = C[i][j] * 0.5f + C[k][31 - j] * W[i][l] * V[l][j];\n#pragma endscop\n}\n")
"""Each launch begins a row further down, and rows behind its last are the program's."""
ALL = {"triangle": (TRIANGLE, {"n": 45}), "window": (WINDOW, {"n": 37, "m": 8}), "batch": (BATCH, {"b": 3, "n": 35}),
       "two": (TWO, {"n": 41}), "offset": (OFFSET, {"n": 40}), "sweep": (SWEEP, {"n": 39}),
       "thirds": (THIRDS, {"n": 40}), "down": (DOWN, {"n": 38}), "shrinking": (SHRINKING, {})}
