"""Programs for other targets: always the same, readable, inside of their arrays."""

import numpy as np
import pytest

from polysched.fuzz.targets.programs import MARGIN, target_program
from polysched.scop.c_frontend.frontend import all_from_c_text
from polysched.scop.interpreter import execute, extents_of


def test_a_seed_is_a_program() -> None:
    assert target_program(7) == target_program(7)
    texts = [target_program(seed).text for seed in range(60)]
    assert len(set(texts)) == 60
    for part in ("for (int s = 0; s < t; s++)", "if (m[", " else ", "-= ", "n - 1; i >= 0", "j <= i", "i = -2;",
                 "j + i < n", "i < n + 2", "i < t && i < n", "#pragma endscop\n  r[1] = ", "int q, ",
                 "[n + 2 * q + 10]", "j < q; j++", "j = q - 1"):
        assert any(part in text for text in texts), part


@pytest.mark.parametrize("seed", [1, 4, *[seed for seed in range(40) if "int q" in target_program(seed).text][:3]])
def test_every_subscript_is_inside(seed: int) -> None:
    program = target_program(seed)
    for scop in all_from_c_text(program.text):
        sizes = {p.name: program.sizes[0].get(p.name, 3) for p in scop.parameters}
        arrays = {a.name: np.ones([e or 2 * MARGIN + 90 for e in extents_of(a, sizes)], a.dtype.name)
                  for a in scop.arrays}
        execute(scop, sizes, arrays, wrap_signed=True)
