"""The same program gives the same text in every process, whatever order its sets happen to have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NAMES = ("first", "second", "third", "fourth", "last")
PROGRAM = f"""void chain(int n, double x[restrict n], {', '.join(f"double {name}[restrict 1]" for name in NAMES)}) {{
#pragma scop
  for (int j = 0; j < n; j++) {{
    first[0] = first[0] * x[j] + 1.0;
    second[0] = second[0] * first[0];
    third[0] = third[0] * second[0];
    fourth[0] = fourth[0] * third[0];
    last[0] = last[0] * fourth[0];
  }}
#pragma endscop
}}
"""


def test_the_emitted_text_does_not_depend_on_hashing(tmp_path: Path) -> None:
    source = tmp_path / "chain.c"
    source.write_text(PROGRAM)
    made = []
    for seed in ("1", "2"):
        result = tmp_path / f"{seed}.c"
        command = [sys.executable, "-m", "polysched", "c2c", str(source), "-o", str(result), "--scheduler", "original"]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        made.append(result.read_text())
    assert "first_held" in made[0]
    assert made[0] == made[1]
