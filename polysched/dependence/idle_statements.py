"""Statements that compute only what nobody reads: counters, and copies whose values stand wherever they are read.

    for (i = 0; i < n; i++) { i1 = i + 1; A[i] = A[i1]; }  ->  for (i = 0; i < n; i++) A[i] = A[i + 1];

The front end has put the value of `i1` in the place of its reads.  The assignment that is left would get loops of its
own when the program is distributed, and dependences to be analysed before that.

Source: R. Cytron, J. Ferrante, B. Rosen, M. Wegman, F. Zadeck, "Efficiently Computing Static Single Assignment Form
and the Control Dependence Graph", TOPLAS 13(4), 1991, section 7.1 (what is live is marked, the rest goes).
"""

from __future__ import annotations

from polysched.dependence.statements import with_statements
from polysched.scop.body import Assign, Call, walk
from polysched.scop.scop import Scop, Statement


def without_idle_statements(scop: Scop) -> Scop:
    """The program without assignments of temporaries on which nothing else depends; the same object without any.

    A program of nothing else stays as it is.
    """
    useful = _useful(scop)
    if not useful or len(useful) == len(scop.statements):
        return scop
    return with_statements(scop, tuple(s for s in scop.statements if s.name in useful))


def _useful(scop: Scop) -> set[str]:
    """The statements that do more than to assign temporaries, and those that write what useful ones read."""
    temporaries = {a.name for a in scop.arrays if a.is_temporary}
    useful = {s.name for s in scop.statements
              if not _only_assigns(s) or any(a.array not in temporaries for a in s.writes)}
    count = -1
    while len(useful) != count:
        count = len(useful)
        read = {a.array for s in scop.statements if s.name in useful for a in s.reads}
        useful |= {s.name for s in scop.statements if any(a.array in read for a in s.writes)}
    return useful


def _only_assigns(statement: Statement) -> bool:
    """Whether a statement does nothing but set memory; a function that it calls might do more."""
    return all(isinstance(item, Assign) and not any(isinstance(e, Call) for e in walk(item.value))
               for item in statement.body)
