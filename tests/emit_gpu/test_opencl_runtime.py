"""The C that a file has once."""

import re
import subprocess
from pathlib import Path

from polysched.emit_gpu.opencl_runtime import RUNTIME
from polysched.target import find_compiler
from tests.emit_gpu.emitted import needs_device


def test_it_may_stand_in_a_file_twice() -> None:
    assert RUNTIME.startswith("#ifndef POLYSCHED_OPENCL\n")
    assert RUNTIME.endswith("#endif\n")


def test_every_call_with_a_status_is_checked() -> None:
    calls = [line for line in RUNTIME.splitlines() if "&status)" in line]
    checks = RUNTIME.count("polysched_device_check(status, ")
    assert len(calls) == 5
    assert checks >= len(calls)


ONCE = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
static int queues, finishes;
static cl_command_queue queue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *status) {
  *status = CL_OUT_OF_HOST_MEMORY;
  return queues++ ? clCreateCommandQueue(c, d, p, status) : NULL;
}
static cl_int finish(cl_command_queue q) { return finishes++ < 2 ? CL_OUT_OF_RESOURCES : clFinish(q); }
#define clCreateCommandQueue queue
#define clFinish finish
""" + RUNTIME + r"""
static void region(void) {
  double one = 1;
  polysched_device_start();
  cl_mem buffer = polysched_device_allocate(1, 1, sizeof one);
  polysched_device_write(buffer, &one, 0, 1, 1, sizeof one);
  polysched_device_release(buffer);
}
int main(void) {
  jmp_buf first;
  for (int call = 0; call < 4; call++) {
    jmp_buf here;
    polysched_device_caller = &here;
    if (setjmp(here)) puts(polysched_device_problem);
    else region(), puts("done");
  }
  polysched_device_caller = &first;
  if (setjmp(first)) puts(polysched_device_problem);
  else polysched_device_allocate(1L << 30, 1L << 20, 8);
  return polysched_device_bytes != 0;
}
"""


def test_a_region_after_one_that_failed_works_or_says_why(tmp_path: Path) -> None:
    needs_device()
    (tmp_path / "once.c").write_text(ONCE)
    done = find_compiler(None).run(["-w", "-O0", "once.c", "-o", "once", "-lOpenCL"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "once"], capture_output=True, text=True, check=True).stdout.splitlines()
    before = "; a kernel of this process failed before, and not all devices survive that"
    assert said == ["OpenCL error -6: no queue", "OpenCL error -5: a kernel failed",
                    f"OpenCL error -5: a kernel failed{before}", "done", said[-1]]
    assert re.fullmatch(r"no memory for a buffer of 9007199254740992 bytes beside 0 in use: the device has \d+, and "
                        r"\d+ at most for one buffer", said[-1])
