"""Programs over periodic domains, and one that needs a reversed loop, as C text."""


def lattice(directions: tuple[tuple[int, ...], ...]) -> str:
    """One relaxation step and one streaming step per time step, in as many dimensions as a direction has."""
    depth = len(directions[0])
    loops = "".join(f"for (int {x} = 0; {x} < n; {x}++) " for x in "ij"[:depth])
    here = "".join(f"[{x}]" for x in "ij"[:depth])
    shape = "[n]" * depth
    arrays = ", ".join(f"double f{k}[restrict n]{shape[3:]}, double g{k}[restrict n]{shape[3:]}"
                       for k in range(len(directions)))
    pulled = [f"f{k}" + "".join(f"[{_from(x, by)}]" for x, by in zip("ij", way, strict=False))
              for k, way in enumerate(directions)]
    density = " + ".join(pulled)
    relax = "\n      ".join(f"g{k}{here} = 0.5 * {own} + {0.5 / len(directions):.4f} * ({density});"
                            for k, own in enumerate(pulled))
    copy = "\n      ".join(f"f{k}{here} = g{k}{here};" for k in range(len(directions)))
    return f"""void lbm(int T, int n, {arrays}) {{
#pragma scop
  for (int t = 0; t < T; t++) {{
    {loops}{{
      {relax}
    }}
    {loops}{{
      {copy}
    }}
  }}
#pragma endscop
}}"""


def _from(index: str, by: int) -> str:
    return index if by == 0 else f"({index} + n - {by}) % n" if by > 0 else f"({index} + {-by}) % n"


def ring(points: str, shape: str, loops: str, here: str) -> str:
    return f"""void heat(int T, int n, double a[restrict n]{shape}, double b[restrict n]{shape}) {{
#pragma scop
  for (int t = 0; t < T; t++) {{
    {loops} b{here} = 0.2 * ({points});
    {loops} a{here} = b{here};
  }}
#pragma endscop
}}"""


PROGRAMS = {
    "heat_1d": ring("a[i] + a[(i + n - 1) % n] + a[(i + 1) % n]", "", "for (int i = 0; i < n; i++)", "[i]"),
    "wide_1d": ring("a[(i + n - 2) % n] + a[(i + n - 1) % n] + a[i] + a[(i + 1) % n] + a[(i + 2) % n]", "",
                    "for (int i = 0; i < n; i++)", "[i]"),
    "heat_2d": ring("a[i][j] + a[(i + n - 1) % n][j] + a[(i + 1) % n][j] + a[i][(j + n - 1) % n] + a[i][(j + 1) % n]",
                    "[n]", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "[i][j]"),
    "lbm_d1q3": lattice(((0,), (1,), (-1,))),
    "lbm_d2q5": lattice(((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))),
    # the second loop reads backwards what the first wrote: one of both must run the other way to be fused
    "reversal": """void reversal(int n, double a[restrict n], double b[restrict n], double c[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) b[i] = 2.0 * a[i];
  for (int i = 0; i < n; i++) c[i] = b[n - 1 - i];
#pragma endscop
}""",
}
