"""A job that spends its time in the C library's allocator is reset again and again.

test_serving.py runs it in a process of its own, since a lock that is left behind would hold it forever.
"""

import sys
from ctypes import CDLL
from pathlib import Path

import numpy as np

from polysched.measure.processes.building import compile_shared
from polysched.runtime import Job, PreemptibleKernel, ServeOptions, serve
from polysched.runtime.scheduler_rows import RUN
from polysched.target import find_compiler
from tests.runtime.kernels import product

ALLOCATES = """
#include <stdlib.h>
__attribute__((visibility("default"))) int run(void *const *arguments, const int *stop, long *done) {
  (void)arguments, (void)stop, (void)done;
  for (long n = 0; n < 100000; n++) {
    char *volatile p = malloc(2000 + n % 4000 * 16);
    *p = 1;
    free(p);
  }
  return 0;
}
"""


def main(folder: Path) -> None:
    """Print how often the job was reset, and how often it ran."""
    compile_shared(ALLOCATES, name="allocates", folder=folder, compiler=find_compiler(None), flags=("-O1",),
                   openmp=False, what="the job")
    own, library = product(), CDLL(str(folder / "allocates.so"))
    kernel = PreemptibleKernel(function=own.function, library=library, restart=own.restart, tiled=own.tiled,
                               machine_code=b"")
    vars(kernel)["entry"] = RUN(("run", library))
    urgent, patient = ({a.name: np.ones((16, 16), np.float32) for a in own.scop.arrays} for _ in range(2))
    served = serve([Job(name="urgent", kernel=own, arguments=urgent, period=0.0005, requests=400),
                    Job(name="patient", kernel=kernel, arguments=patient, requests=20, tile_seconds=1.0)],
                   ServeOptions(reset=True))
    print(served["patient"].resets, served["patient"].runs)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
