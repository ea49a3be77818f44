"""The experiment on defaults: its operands and what it expects of them, its blocks, and what its table judges."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "tensorize" / "by_default"
START = "import sys; sys.path.insert(0, sys.argv[1])\n"


def said(text: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", START + text, str(EXPERIMENT)], capture_output=True, text=True,
                          timeout=300, check=False, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


def test_the_nests_compute_what_is_expected_of_them(tmp_path: Path) -> None:
    """As Python functions, on few channels."""
    lines = said("""
import numpy as np, variants as v
v.CHANNELS = 2
for kind, types, nest in (("convolution", "u8 x s8", v.one_nest), ("convolution", "u7 x s8", v.one_nest_of_7_bits),
                          ("product", "s8 x s8", v.loop_nest), ("product", "u8 x s8", v.numpy_spelling)):
    arrays = v.operands(kind, types, 4)
    result = np.zeros((4, 4, 2), np.uint8) if kind == "convolution" else np.zeros((4, 4), np.int32)
    nest(result, *arrays)
    print(np.array_equal(result, v.expected(kind, arrays, result, ties_up=True)), bool(result.any()))
""", tmp_path)
    assert lines == ["True True"] * 4


def test_halves_are_rounded_as_each_variant_does(tmp_path: Path) -> None:
    lines = said("""
import numpy as np, variants as v
v.CHANNELS = 1
image, weights = np.zeros((3, 3, 1), np.uint8), np.zeros((3, 3, 1, 1), np.int8)
for bias in (128, 384, 100000, -5):
    arrays = image, weights, np.array([bias], np.int32)
    print(*(int(v.expected("convolution", arrays, image, ties_up=up)[0, 0, 0]) for up in (True, False)))
""", tmp_path)
    assert lines == ["1 0", "2 2", "255 255", "0 0"]


RECORDS = """
from types import SimpleNamespace
import run
def one(case, sizes, left_out="", wrong=(), **seconds):
    own = run.WORKLOADS[case]["ours"]
    said = {n: {"imported": 0.5, "firsts": [1.5, 0.07], "wrong": list(wrong) if n in own else [512]}
            for n in map(lambda n: n.replace("_", " "), seconds)}
    by = {n.replace("_", " "): {str(s): t for s, t in zip(sizes, times)} for n, times in seconds.items()}
    values = {"sizes": sizes, "left_out": left_out, "said": said, "seconds": by}
    return SimpleNamespace(case=case, done=True, values=values)
record = one("product_u8_s8", [512], loop_nest=[[2.0, 1.0, 9.0]], NumPy_spelling=[[2.1, 2.1, 2.1]],
             oneDNN_linear=[[1.5]])
alone = one("conv_requantised_u8", [14], left_out="no PyTorch", one_nest=[[1.0]])
"""


def test_medians_are_judged_against_the_aims(tmp_path: Path) -> None:
    text = said(RECORDS + "print(run.table([record, alone]))", tmp_path)
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text if line.startswith("| ")][1:]
    found = {row[0]: row[2:] for row in rows}
    assert found["product_u8_s8, 512"][1:] == ["0.75", "at least 0.95", "no"]
    assert found["product_u8_s8, 512"][0].endswith("(wrong)")
    assert found["product_u8_s8, 512, NumPy spelling"][1:] == ["1.05", "at most 1.1", "yes"]
    assert found["product_u8_s8, loop nest, first call"][1:] == ["1.5", "at most 2", "yes"]
    assert found["product_u8_s8, loop nest, second size"][1:] == ["0.07", "at most 0.05", "no"]
    assert found["conv_requantised_u8, 14"] == ["no PyTorch", "-", "at least 1", "-"]
    assert text[-1] == "4 of 8 aims reached"


def test_a_wrong_result_of_ours_fails_the_run(tmp_path: Path) -> None:
    lines = said(RECORDS + """
print(run.verdict([record, alone]) == "")
print(run.verdict([one("conv_requantised_u8", [14, 28], wrong=[28], one_nest=[[1.0], [1.0]])]))
""", tmp_path)
    assert lines == ["True", "wrong results: conv_requantised_u8 by one nest at 28"]


def test_blocks_alternate_and_a_variant_that_ends_is_told(tmp_path: Path) -> None:
    lines = said("""
import blocks, pathlib, json
fake = pathlib.Path("fake.py")
fake.write_text('''
import json, sys
request = json.loads(sys.argv[1])
if request["variant"] == "dead":
    sys.exit(3)
print(json.dumps({"types": request["types"]}), flush=True)
for line in sys.stdin:
    print(float(line) + request["calls"], flush=True)
''')
blocks.VARIANTS = fake
work = {"kind": "product", "types": "u8 x s8", "ours": ("mine",)}
field = blocks.Field(workload=work, sizes=[4, 8], calls=2, peer_python=sys.executable, threads=1)
with field.started(["torch._int_mm"], pathlib.Path("."), lambda text: None) as running:
    print(*(one.said["types"] for one in running.values()), sep=", ")
    print(json.dumps(blocks.in_turn(running, [4, 8], 2, lambda text: None)))
try:
    with field.started(["dead"], pathlib.Path("."), lambda text: None):
        pass
except RuntimeError as error:
    print(str(error).endswith("ended with 3"))
""", tmp_path)
    both = '{"4": [6.0, 6.0], "8": [10.0, 10.0]}'
    assert lines == ["u8 x s8, s8 x s8", f'{{"mine": {both}, "torch._int_mm": {both}}}', "True"]
