"""Products that tensor cores can compute, for the tests of the device rooms."""

PLAIN = ("void f(int n, int m, int q, int C[n][m], signed char A[n][q], signed char B[q][m]) {\n#pragma scop\n"
         "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) {\n      C[i][j] = 3;\n"
         "      for (int k = 0; k < q; k++)\n        C[i][j] += A[i][k] * B[k][j];\n      C[i][j] *= 2;\n    }\n"
         "#pragma endscop\n}\n")
"""With something in front and behind."""
UNSIGNED = ("void f(int n, int m, int q, int C[n][m], unsigned char A[q][n], unsigned char B[m][q]) {\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      for (int k = 0; k < q; k++)\n"
            "        C[i][j] = C[i][j] + B[j][k] * A[k][i];\n#pragma endscop\n}\n")
"""Both operands the other way around."""
BATCH = ("void f(int b, int n, int q, int C[b][n][n], signed char A[b][n][q], signed char W[q][n]) {\n#pragma scop\n"
         "  for (int l = 1; l < b; l++)\n    for (int i = 2; i < n; i++)\n      for (int j = 1; j < n - 1; j++)\n"
         "        for (int k = 3; k < q; k++)\n          C[l - 1][i - 2][j] += A[l][i][k - 3] * W[k][j];\n"
         "#pragma endscop\n}\n")
"""Many, with offsets and ends of their own."""
SQUARE = ("void f(int n, int q, int C[n][n], signed char A[n][q]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = 0; k < q; k++)\n"
          "        C[i][j] += A[i][k] * A[j][k];\n#pragma endscop\n}\n")
"""One array as both operands."""
SEVERAL = ("void f(int n, int q, int C[n][n], int D[n][n], signed char A[n][q], signed char B[q][n],\n"
           "       unsigned char G[n][q], unsigned char H[q][n]) {\n#pragma scop\n"
           "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n" + "".join(
               f"      for (int k = 0; k < q; k++)\n        {result}[i][j] += {left}[i][k] * {right}[k][j];\n"
               for result, left, right in ("CAB", "DGH", "DAB", "CGH")) + "    }\n#pragma endscop\n}\n")
"""Four of one launch."""
FLOATS = PLAIN.replace("signed char", "float").replace("int C", "float C")
HALVES = PLAIN.replace("signed char", "_Float16").replace("int C", "float C").replace(
    "A[i][k] * B[k][j]", "(float)A[i][k] * (float)B[k][j]")
BRAINS = HALVES.replace("_Float16", "__bf16")
TRIANGLE = PLAIN.replace("j < m", "j <= i").replace("[m]", "[n]")
"""The results are no box."""
INTEGERS = {"plain": (PLAIN, {"n": 37, "m": 71, "q": 101}), "unsigned": (UNSIGNED, {"n": 65, "m": 64, "q": 63}),
            "batch": (BATCH, {"b": 3, "n": 70, "q": 20}), "square": (SQUARE, {"n": 66, "q": 17}),
            "several": (SEVERAL, {"n": 67, "q": 70})}
