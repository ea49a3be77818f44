"""An error of a device ends the program with its words, or returns to a caller that asked for that; what is stored."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polysched.emit_gpu.shared_runtime import CHANGED, ERRORS
from polysched.target import find_compiler

MAIN = r"""
int main(int count, char **arguments) {
  (void)arguments;
  jmp_buf here;
  if (count > 1) {
    polysched_device_caller = &here;
    if (setjmp(here)) return printf("%s came back\n", polysched_device_problem), 0;
  }
  polysched_device_refuse("no 100% device");
  return 0;
}
"""
MEMORY = r"""
typedef char *polysched_device_buffer;
static TYPE host[6] = {1, 2, 3, 4, 5, 6}, device[6];
static int polysched_device_has(char *buffer, const void *array) { return buffer == array; }
static void polysched_device_send(char *buffer, const void *from, size_t first, size_t bytes) {
  host[3] = 7;   /* another thread's */
  memcpy(buffer + first, from, bytes);
}
static void polysched_device_fetch(char *buffer, void *to, size_t first, size_t bytes) {
  memcpy(to, buffer + first, bytes);
}
static void polysched_device_read(char *buffer, void *array, long first, long end, long row, size_t bytes) {
  if (first < end) polysched_device_fetch(buffer, (char *)array + first * row * bytes, first * row * bytes,
                                          (end - first) * row * bytes);
}
"""
ROWS = r"""
int main(void) {
  char *const buffer = (char *)device;
  polysched_device_kept kept = {0};
  polysched_device_keep(&kept, buffer, host, 1, 2, 2, sizeof *host);
  host[3] = 8;
  device[2] = 9;
  device[4] = 10, device[5] = 11;
  polysched_device_read_changed(buffer, host, &kept, 1, 3, 2, sizeof *host);
  polysched_device_forget(&kept);
  const TYPE wanted[6] = {1, 2, 9, 8, 10, 11};
  int bad = 0;
  for (int k = 0; k < 6; k++) bad += host[k] != wanted[k];
  return bad;
}
"""
COUNTED = r"""
#include <stdlib.h>
static int held, given;
static void *counted(size_t bytes) { return held++, malloc(bytes); }
static void uncounted(void *memory) { held -= memory != NULL, free(memory); }
#define malloc counted
#define free uncounted
"""
FAILS = r"""
static void give(void *buffer) { given += buffer == host; }
int main(int count, char **arguments) {
  static polysched_device_kept kept, other;
  jmp_buf here;
  polysched_device_caller = &here;
  if (!setjmp(here)) {
    (void)arguments;
    polysched_device_own(host, give);
    polysched_device_own(device, give);
    polysched_device_disown(device);
    polysched_device_keep(&kept, (char *)device, host, 0, 1, 2, sizeof *host);
    polysched_device_keep(&other, (char *)device, host, 1, 2, 2, sizeof *host);
    polysched_device_forget(&other);
    if (count > 1) polysched_device_refuse("in the middle");
    polysched_device_forget(&kept);
    polysched_device_disown(host);
    give(host);
  }
  return held || given != 1 || polysched_device_all != NULL;
}
"""


@pytest.mark.parametrize("arguments", [[], ["fails"]])
def test_an_error_gives_back_what_a_region_holds(arguments: list[str], tmp_path: Path) -> None:
    source, program = tmp_path / "fails.c", tmp_path / "fails"
    source.write_text(COUNTED + ERRORS + MEMORY + CHANGED + FAILS)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-DTYPE=int", str(source),
                                    "-o", str(program)], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program, *arguments], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["unsigned char", "short", "int", "double", "long double"])
def test_what_another_thread_writes_meanwhile_stays(kind: str, tmp_path: Path) -> None:
    """The device gets the rows that are kept, and rows that the region writes as a whole come back as they are."""
    source, program = tmp_path / "rows.c", tmp_path / "rows"
    source.write_text(ERRORS + MEMORY + CHANGED + ROWS)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", f"-DTYPE={kind}", str(source), "-o", str(program)],
                                   folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], check=False).returncode == 0


def test_the_end_or_a_return(tmp_path: Path) -> None:
    source, program = tmp_path / "errors.c", tmp_path / "errors"
    source.write_text(ERRORS + MAIN)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ended = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "polysched: no 100% device\n")
    returned = subprocess.run([program, "caller"], capture_output=True, text=True, check=False)
    assert (returned.returncode, returned.stdout) == (0, "no 100% device came back\n")
