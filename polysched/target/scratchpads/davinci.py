"""A chip in the manner of DaVinci: one cube, one vector unit, four levels of buffers that a program fills itself."""

from polysched.target.scratchpads.description import MEMORY, Cube, Memory, Move, ScratchpadTarget, Vector

DAVINCI = ScratchpadTarget(
    name="davinci",
    memories=(
        Memory(name="L1", capacity_bytes=1024 * 1024, banks=16, line_bytes=32),
        Memory(name="L0A", capacity_bytes=64 * 1024, banks=2, line_bytes=512),
        Memory(name="L0B", capacity_bytes=64 * 1024, banks=2, line_bytes=512),
        Memory(name="L0C", capacity_bytes=256 * 1024, banks=2, line_bytes=1024),
        Memory(name="UB", capacity_bytes=256 * 1024, banks=16, line_bytes=32)),
    moves=(
        Move(source=MEMORY, destination="L1", engine="MTE2", bytes_per_cycle=128, startup_cycles=64, row_bytes=32,
             rows=4095, as_matrix=False, instruction="copy_gm_to_cbuf"),
        Move(source=MEMORY, destination="UB", engine="MTE2", bytes_per_cycle=128, startup_cycles=64, row_bytes=32,
             rows=4095, as_matrix=False, instruction="copy_gm_to_ubuf"),
        Move(source="L1", destination="L0A", engine="MTE1", bytes_per_cycle=512, startup_cycles=16, row_bytes=32,
             rows=4095, as_matrix=True, instruction="load3d, cbuf to ca"),
        Move(source="L1", destination="L0B", engine="MTE1", bytes_per_cycle=256, startup_cycles=16, row_bytes=32,
             rows=4095, as_matrix=True, instruction="load2d with transposition, cbuf to cb"),
        Move(source="L0C", destination="UB", engine="VECTOR", bytes_per_cycle=256, startup_cycles=16, row_bytes=64,
             rows=4095, as_matrix=True, instruction="copy_matrix_cc_to_ubuf"),
        Move(source="UB", destination="L0C", engine="VECTOR", bytes_per_cycle=256, startup_cycles=16, row_bytes=64,
             rows=4095, as_matrix=True, instruction="copy_matrix_ubuf_to_cc"),
        Move(source="UB", destination="L1", engine="MTE3", bytes_per_cycle=128, startup_cycles=16, row_bytes=32,
             rows=4095, as_matrix=False, instruction="copy_ubuf_to_cbuf"),
        Move(source="UB", destination=MEMORY, engine="MTE3", bytes_per_cycle=128, startup_cycles=64, row_bytes=32,
             rows=4095, as_matrix=False, instruction="copy_ubuf_to_gm")),
    cube=Cube(intrinsic="davinci_cube", engine="CUBE", operands={"C": "L0C", "A": "L0A", "B": "L0B"}, result="C",
              startup_cycles=16),
    vector=Vector(engine="VECTOR", memory="UB", bytes_per_cycle=256, startup_cycles=8, repeats=255, call_operations=8),
    engines=("MTE2", "MTE1", "CUBE", "VECTOR", "MTE3"), slots=2,
    source="capacities, paths and widths of cube and vector unit: Liao et al., DaVinci, Hot Chips 2019, and Ascend, "
           "HPCA 2021; widths of the moves and all startup cycles are round numbers of this project, nothing measured")
