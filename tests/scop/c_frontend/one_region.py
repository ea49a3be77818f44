"""The Scop of one region in a function with arguments of several types."""

from polysched.scop import from_c_text
from polysched.scop.scop import Scop

HEAD = "int n, int m, double A[n], double B[n][m], float x[n], unsigned u, unsigned char c"


def one(inside: str, head: str = HEAD, before: str = "") -> Scop:
    return from_c_text(f"{before}\nvoid f({head}) {{\n#pragma scop\n{inside}\n#pragma endscop\n}}\n")
