"""The child of a field checks the guards of all arrays; what it reports is tested through `measure.field`."""

import numpy as np

from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.field_run import FieldSession
from polysched.measure.timing.paired_run import Place


def test_a_write_outside_of_an_array_is_seen():
    guarded = allocate("float64", (4,))
    place = Place("a", "float64", "argument", None, None, guarded, {"v": guarded.values}, np.zeros(4))
    session = FieldSession.__new__(FieldSession)
    session.places = [place]
    assert session.are_intact()
    guarded.memory[guarded.start - 1] ^= 1
    assert not session.are_intact()
