"""Files whose region can be stopped; functions that do more than the region are refused."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import PolyschedError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.whole_files.preemptible import preemptible_file
from polysched.tiling import TilingOptions
from tests.emit_c.compiled import load

FILE = """void f(int n, double a[n][n])
{
  int i, j; /* a comment = 1; */
BEFORE#pragma scop
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++)
      a[i][j] += a[i - 1][j];
#pragma endscop
BEHIND}
"""


def file(folder: Path, before: str = "", behind: str = "", text: str = FILE) -> Path:
    path = folder / "f.c"
    path.write_text(text.replace("BEFORE", before).replace("BEHIND", behind))
    return path


class State(ctypes.Structure):
    _fields_ = [("stop", ctypes.c_void_p), ("done", ctypes.c_long), ("stopped", ctypes.c_int)]


def test_a_file_is_stopped_and_goes_on(tmp_path: Path) -> None:
    made = preemptible_file(file(tmp_path), PipelineOptions(tiling=TilingOptions(sizes=4)))
    library = load(made.text, tmp_path, strict=False)
    stop, state = ctypes.c_int(1), State.in_dll(library, "polysched_preemption")
    state.stop = ctypes.addressof(stop)
    array = np.random.default_rng(1).random((13, 13))
    expected, calls = array.copy(), 0
    for i in range(1, 13):
        expected[i] += expected[i - 1]
    while calls == 0 or state.stopped:
        library.f(ctypes.c_int(13), ctypes.c_void_p(array.ctypes.data))
        calls += 1
    assert calls > 3
    assert array.tobytes() == expected.tobytes()
    assert made.source.fallbacks == ()


@pytest.mark.parametrize(("before", "behind", "said"), [
    ("  a[0][0] = 1;\n", "", "ahead of the region"),
    ("  int k = n;\n", "", "ahead of the region"),
    ("  for (i = 0; i < n; i++) a[0][i] = 0;\n", "", "ahead of the region"),
    ("  if (n < 0) {\n", "  }\n", "ahead of the region"),
    ("", "  a[0][0] = 1;\n", "behind the region"),
])
def test_what_a_second_call_would_do_again_is_refused(before, behind, said, tmp_path: Path) -> None:
    with pytest.raises(PolyschedError, match=said):
        preemptible_file(file(tmp_path, before, behind))


def test_declarations_and_a_plain_return_may_stand_around(tmp_path: Path) -> None:
    assert "goto" in preemptible_file(file(tmp_path, "  double unused;\n", "  return;\n")).text


def test_two_regions_and_the_name_of_the_state_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolyschedError, match="one region of a file"):
        preemptible_file(file(tmp_path, text=FILE + FILE.replace("f(", "g(")))
    with pytest.raises(PolyschedError, match="polysched_preemption"):
        preemptible_file(file(tmp_path, text="int polysched_preemption;\n" + FILE))


def test_other_code_beside_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolyschedError, match="no other code beside it"):
        preemptible_file(file(tmp_path), PipelineOptions(guard=True))


def test_what_the_region_takes_for_granted_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = FILE.replace("a[i - 1][j]", "a[(unsigned char)(i - 1)][j]")
    preemptible_file(file(tmp_path, text=text))
    assert "takes for granted: " in caplog.text
    assert "fits the type unsigned char" in caplog.text


PRODUCT = """void f(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[i][j] += b[i][k] * b[j][k];
#pragma endscop
}
"""


@pytest.mark.parametrize("n", [0, -5])
def test_a_file_without_elements_is_done_at_once(tmp_path: Path, n: int) -> None:
    library = load(preemptible_file(file(tmp_path, text=PRODUCT)).text, tmp_path, strict=False)
    state = State.in_dll(library, "polysched_preemption")
    state.stopped = 1
    library.f(ctypes.c_int(n), None, None)
    assert not state.stopped
