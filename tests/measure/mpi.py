"""Whether MPI is here."""

import pytest

from polysched.errors import NoCompilerError
from polysched.measure.ranks import mpi_command


def _reason() -> str:
    try:
        mpi_command("mpicc"), mpi_command("mpiexec")
    except NoCompilerError as error:
        return str(error)
    return ""


needs_mpi = pytest.mark.skipif(bool(_reason()), reason=_reason() or "MPI is here")
