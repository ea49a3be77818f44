"""Gemmini: a systolic array between a scratchpad and an accumulator; other statements run on the core beside it."""

from polysched.target.scratchpads.description import MEMORY, Cube, Memory, Move, ScratchpadTarget, Vector

GEMMINI = ScratchpadTarget(
    name="gemmini",
    memories=(Memory(name="SCRATCHPAD", capacity_bytes=256 * 1024, banks=4, line_bytes=16),
              Memory(name="ACCUMULATOR", capacity_bytes=64 * 1024, banks=2, line_bytes=64)),
    moves=(
        Move(source=MEMORY, destination="SCRATCHPAD", engine="LOAD", bytes_per_cycle=16, startup_cycles=40,
             row_bytes=16, rows=16, as_matrix=True, instruction="mvin"),
        Move(source=MEMORY, destination="ACCUMULATOR", engine="LOAD", bytes_per_cycle=16, startup_cycles=40,
             row_bytes=64, rows=16, as_matrix=True, instruction="mvin3"),
        Move(source="ACCUMULATOR", destination=MEMORY, engine="STORE", bytes_per_cycle=16, startup_cycles=40,
             row_bytes=64, rows=16, as_matrix=True, instruction="mvout")),
    cube=Cube(intrinsic="gemmini_matmul", engine="EXECUTE",
              operands={"C": "ACCUMULATOR", "A": "SCRATCHPAD", "B": "SCRATCHPAD"}, result="C", startup_cycles=32),
    vector=Vector(engine="CORE", memory=MEMORY, bytes_per_cycle=4, startup_cycles=4, repeats=1 << 30,
                  call_operations=40),
    engines=("LOAD", "EXECUTE", "STORE", "CORE"), slots=2,
    source="capacities, banks and 16 bytes of the bus a cycle: the default configuration of the Gemmini README (Genc "
           "et al., DAC 2021); startup cycles and the core's are round numbers of this project, nothing measured")
