"""Bodies as lines of C, and braces only where C needs them."""

from __future__ import annotations

import pytest

from polysched.emit_c.scalar_code.statements import braced


@pytest.mark.parametrize(("body", "lines"), [
    ([], ["for (;;);"]),
    (["a = 1;"], ["for (;;)", "  a = 1;"]),
    (["a = 1;", "b = 2;"], ["for (;;) {", "  a = 1;", "  b = 2;", "}"]),
    (["#pragma omp simd"], ["for (;;) {", "  #pragma omp simd", "}"]),
])
def test_braces(body: list[str], lines: list[str]) -> None:
    assert braced("for (;;)", body) == lines
