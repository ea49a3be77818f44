"""Split tiles: pieces of space that start together, the gaps between them, and the same numbers as before."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched import PipelineOptions, optimize
from polysched.emit_c import EmitOptions, emit, printed
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.scheduling.tree.loop_tree import from_isl
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explain_text, explanations
from polysched.tiling.planning import skewed_tiles
from polysched.tiling.planning.cost_models import Projected
from polysched.tiling.planning.skewed_tiles import (
    NestTimes,
    choose_skewed_tile,
    full_tiles_seconds,
    split_seconds,
    transfer_once,
)
from polysched.tiling.shapes.diamond import faces_of
from polysched.tiling.shapes.split_tiles import BEGIN, BORDER, END, MOST_PIECES, pieces_of
from polysched.tiling.tree.position import top
from tests.emit_c.compiled import load
from tests.schedules import pluto_of
from tests.tiers import and_campaign
from tests.tiling import kernels
from tests.tiling.planning.test_skewed_tiles import SMALL, STENCIL, schedule_of
from tests.tiling.test_stencil_edges import PROGRAMS, arrays_of, run
from tests.tiling.test_tile_bands import MACHINE, assert_legal, plain, scheduled, shape


def cut_of(schedule, *, steps, count):
    tree = from_isl(schedule.tree)
    position = top(schedule.dependences, tree.domain)
    faces = faces_of(position, tree.root.members)
    return tree.domain, pieces_of(tree.domain, tree.root.members[0], faces, steps=steps, count=count)


def values(function, domain):
    found = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range())
    return found.dim_min_val(0).to_python(), found.dim_max_val(0).to_python(), found.count_val().to_python()


def test_a_row_of_tiles_is_pieces_on_threads_and_then_gaps_step_by_step():
    tiled = tile(schedule_of(60, 20), plain(sizes=(4, 8, 16), split=True))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0", "tile1p", "tile1", "tile2", "point0", "point1", "point2s", "point2s",
                            "tile0", "tile1p", "point1", "point2s", "tile1p", "point1", "point2s"]
    assert tiled.bands[0].pieces == 2
    assert not tiled.bands[0].wavefront


@pytest.mark.parametrize("cores", [2, 3, 4])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_every_instance_is_in_one_of_so_many_pieces_or_in_a_gap(cores, steps):
    domain, pieces = cut_of(schedule_of(97, 12), steps=steps, count=cores)
    across = values(pieces.cut.across, domain)
    assert across == (0, 1, 2)
    inside = domain.intersect(pieces.cut.where(0))
    assert values(pieces.cut.piece, inside) == (0, cores - 1, cores)
    assert values(pieces.cut.half, domain.subtract(inside))[2] == 2 * (cores - 1)


def test_two_pieces_have_equally_many_instances():
    domain, pieces = cut_of(schedule_of(100, 12), steps=3, count=2)
    counts = [isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(pieces.cut.piece).intersect_domain(
        domain.intersect(pieces.cut.where(0))).intersect_range(isl.UnionSet(f"{{ [{k}] }}")).domain(
        ).intersect(isl.UnionSet("{ S0[t, i, j] }"))).count_val().to_python() for k in (0, 1)]
    assert abs(counts[0] - counts[1]) <= 0.1 * sum(counts)


def test_space_too_small_for_pieces_has_none():
    assert cut_of(schedule_of(20, 40), steps=10, count=2)[1] is None
    assert cut_of(schedule_of(60, 40), steps=10, count=4)[1] is None
    assert cut_of(schedule_of(60, 40), steps=10, count=2)[1] is not None


def test_sweeps_in_place_stay_wavefronts(caplog):
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=8, split=True))
    assert "tiles were not split" in caplog.text
    assert_legal(tiled)
    assert shape(tiled)[0].startswith("wavefront")
    assert "tiles were not split" in " ".join(tiled.fallbacks)


@pytest.mark.parametrize(("options", "split"), [({}, True), ({"split": False}, False), ({"diamond": True}, False)])
def test_the_model_splits_where_nobody_forbids_it(options, split):
    """Data that one core's caches hold: a wavefront of tiles would hand all of them to the other thread."""
    tiled = tile(schedule_of(200, 60), TilingOptions(target=SMALL, **options))
    assert_legal(tiled)
    assert (not tiled.bands[0].wavefront) == split
    assert bool(tiled.bands[0].pieces) == split
    (explained,) = explanations(tiled, SMALL)
    assert ("split: 2 pieces of space" in explain_text(explained)) == split
    assert ("pieces" in explained.to_json()) == split


def test_bands_around_further_loops_are_not_split():
    """Gaps are made of the band's own loops alone."""
    tiled = tile(scheduled(kernels.time_with_two_products()), plain(sizes=8, split=True))
    assert_legal(tiled)
    assert all(band.pieces == 0 for band in tiled.bands)


def test_edges_by_hand_are_in_wavefronts_unless_asked_for():
    assert shape(tile(schedule_of(60, 20), plain(sizes=(4, 8, 16))))[0] == "wavefront0"


def test_the_model_knows_narrow_pieces_and_wide_gaps():
    schedule = schedule_of(120, 60)
    tree = from_isl(schedule.tree)
    faces = faces_of(top(schedule.dependences, tree.domain), tree.root.members)
    plan = tile(schedule, TilingOptions(target=SMALL)).bands[0].plan
    known = NestTimes(plan.nest, Projected(target=SMALL))
    few, many, too_many = (split_seconds(replace(plan, edges=(steps, 16, None)), faces, known, 2)
                           for steps in (4, 12, 40))
    assert few is not None
    assert many is not None
    assert too_many is None, "pieces would overlap"
    assert split_seconds(plan, faces, known, 1) is None
    assert full_tiles_seconds(plan, known) <= full_tiles_seconds(plan, known, handed_over=True)
    assert choose_skewed_tile(plan.problem, SMALL).split is False, "without faces there are wavefronts"


def test_what_all_tiles_of_a_nest_have_in_common_is_computed_once(monkeypatch):
    schedule = schedule_of(120, 60)
    tree = from_isl(schedule.tree)
    faces = faces_of(top(schedule.dependences, tree.domain), tree.root.members)
    plan = tile(schedule, TilingOptions(target=SMALL)).bands[0].plan
    asked = []
    monkeypatch.setattr(skewed_tiles, "transfer_once", lambda *given: asked.append(given) or transfer_once(*given))
    assert choose_skewed_tile(plan.problem, SMALL, faces) == plan.choice
    assert len(asked) == 1


def test_pieces_that_isl_makes_no_loops_of_are_given_up():
    options = EmitOptions(vector_bits=0, max_operations=70_000)
    pieces, waves = (tile(schedule_of(60, 20), plain(sizes=(4, 8, 16), split=split)) for split in (True, False))
    cut = printed(lowered_with_fallbacks(pieces, options))
    assert cut.fallbacks[0].startswith("tiles were not split after all: ")
    assert cut.text.count("for (") == emit(waves, options=options).text.count("for (")


def test_the_steps_of_a_result_say_what_was_split():
    made = optimize(from_c_text(STENCIL.format(n=60, steps=20)), PipelineOptions(tile=(4, 8, 16), split_tiles=True))
    pieces = host().cores
    assert any(f"split into {pieces} pieces" in step for step in made.steps()) == (1 < pieces <= 4)


def test_the_option_reaches_the_tiles():
    assert PipelineOptions(split_tiles=False).tiling_options().split is False
    assert PipelineOptions().tiling_options().split is None
    assert PipelineOptions(split_tiles=True).chosen()["split_tiles"] is True


def computed(text: str, edges: tuple[int, ...], cores: int, bits: int, folder: Path, sizes: tuple[int, ...],
             **options: bool):
    """What split tiles and the source compute, with the tiled schedule in front."""
    tiled = tile(pluto_of(text), TilingOptions(
        sizes=edges, split=True, target=replace(MACHINE, cores=cores, vector_bits=bits), **options))
    head = text[:text.index("#pragma")]
    ours = load(f"{head}{emit(tiled).text}}}\n", folder, flags=("-O1", "-fopenmp")).f
    heads = head[head.index("(") + 1:head.index(")")]
    arrays = arrays_of(heads, sizes)
    return tiled, run(ours, arrays, ()), run(load(text, folder, strict=False).f, arrays, ())


AROUND_EDGES = {(18, 2): (4, 9), (34, 2): (3, 5), (35, 2): (4, 9), (49, 3): (3, 4), (66, 4): (5,), (67, 4): (3, 9)}


@pytest.mark.parametrize(("n", "steps", "edges", "cores"), and_campaign(
    [(n, steps, (4, 8, 16), cores) for (n, cores), at in AROUND_EDGES.items() for steps in at],
    [(n, steps, (4, 8, 16), cores) for n, cores in AROUND_EDGES for steps in (3, 4, 5, 9)]))
def test_around_every_edge_the_source_is_computed(n, steps, edges, cores, tmp_path):
    text = STENCIL.format(n=n, steps=steps)
    _, ours, source = computed(text, edges, cores, 256, tmp_path, (n, n, n))
    assert ours == source


CUBE = """void f(double A[{n}][{m}][{k}], double B[{n}][{m}][{k}]) {{
#pragma scop
  for (int t = 0; t < {steps}; t++) {{
    for (int i = 1; i < {n} - 1; i++)
      for (int j = 1; j < {m} - 1; j++)
        for (int k = 1; k < {k} - 1; k++)
          B[i][j][k] = 0.3 * A[i][j][k] + 0.2 * (A[i - 1][j][k] + A[i + 1][j][k])
            + 0.1 * (A[i][j - 1][k] + A[i][j + 1][k]) + 0.05 * (A[i][j][k - 1] + A[i][j][k + 1]);
    for (int i = 1; i < {n} - 1; i++)
      for (int j = 1; j < {m} - 1; j++)
        for (int k = 1; k < {k} - 1; k++)
          A[i][j][k] = 0.5 * B[i][j][k] + 0.25 * B[i - 1][j + 1][k];
  }}
#pragma endscop
}}
"""


def cube(n: int, m: int, steps: int):
    return pluto_of(CUBE.format(n=n, m=m, k=20, steps=steps))


def test_gaps_are_cut_along_another_loop_and_have_tiles_over_time():
    tiled = tile(cube(60, 50, 9), plain(sizes=(3, 8, 6, 32), split=True, target=replace(MACHINE, cores=2)))
    assert_legal(tiled)
    loops = shape(tiled)
    assert loops[:5] == ["tile0", "tile1p", "tile1", "tile2", "tile3"]
    gaps = loops.index("tile2p")
    assert loops[gaps:gaps + 4] == ["tile2p", "tile1", "tile2", "tile3"], "a tile has the whole width of a gap"
    crossings = gaps + loops[gaps:].index("tile1p")
    assert loops[crossings:crossings + 3] == ["tile1p", "tile2", "point0"]
    text = emit(tiled).text
    assert "in pieces along another loop" in text
    assert "step by step" not in text


def test_space_too_narrow_to_cut_the_gaps_too_has_them_step_by_step():
    text = emit(tile(cube(60, 8, 9), plain(sizes=(3, 8, 6, 32), split=True, target=replace(MACHINE, cores=2)))).text
    assert "step by step" in text


def test_the_only_row_of_tiles_has_its_pieces_on_threads():
    assert shape(tile(schedule_of(60, 4), plain(sizes=(4, 8, 16), split=True)))[:2] == ["tile0", "tile1p"]


@pytest.mark.parametrize(("n", "m", "steps", "cores"), and_campaign(
    [(28, 29, 2, 2), (28, 29, 5, 2), (41, 30, 3, 2), (46, 47, 2, 3), (46, 47, 5, 3), (66, 62, 3, 4)],
    [(*sizes, steps, cores) for *sizes, cores in ((28, 29, 2), (41, 30, 2), (46, 47, 3), (66, 62, 4))
     for steps in (2, 3, 5)]))
def test_around_every_edge_of_gaps_in_tiles_the_source_is_computed(n, m, steps, cores, tmp_path):
    text = CUBE.format(n=n, m=m, k=20, steps=steps)
    tiled, ours, source = computed(text, (2, 8, 6, 32), cores, 256, tmp_path, (n, m, 20))
    assert "tile2p" in shape(tiled)
    assert ours == source


def test_a_sum_beside_time_and_space_is_computed_in_pieces_and_gaps(tmp_path):
    text = """void f(double A[200], double B[200], double W[5]) {
#pragma scop
  for (int t = 0; t < 30; t++) {
    for (int i = 2; i < 198; i++) {
      B[i] = 0;
      for (int k = 0; k < 5; k++)
        B[i] += 0.2 * W[k] * A[i + k - 2];
    }
    for (int i = 2; i < 198; i++)
      A[i] = B[i];
  }
#pragma endscop
}
"""
    tiled, ours, source = computed(text, (4, 16, 8), 2, 256, tmp_path, (200, 1, 1), register=False)
    assert tiled.bands[0].pieces == 2
    assert ours == source


SYMBOLIC = STENCIL.replace("[{n}][{n}]", "[n][n]").replace("void f(", "void f(int n, int steps, ").replace(
    "{n}", "n").replace("{steps}", "steps").replace("{{", "{").replace("}}", "}")


@pytest.fixture(scope="module")
def symbolic():
    """Two arrays in turn, whose size is a parameter."""
    return pluto_of(SYMBOLIC)


@pytest.mark.parametrize("cores", and_campaign([3], [2]))
def test_space_whose_size_is_a_parameter_is_cut_and_legal_with_all_its_pieces(symbolic, cores):
    tiled = tile(symbolic, plain(sizes=(2, 8, 16), split=True, target=replace(MACHINE, cores=cores)))
    assert tiled.bands[0].pieces == cores
    assert not tiled.bands[0].wavefront
    assert shape(tiled)[:4] == ["tile0", "tile1p", "tile1", "tile2"]
    assert BORDER not in str(tiled.tree), "the tree has the parameters of the program, for whoever runs it"
    assert_legal(tiled)


@pytest.mark.parametrize("cores", [2, 3, 5])
@pytest.mark.parametrize("steps", [1, 4])
def test_pieces_and_halves_of_gaps_share_out_space_of_any_size(symbolic, steps, cores):
    """What the emitted loops go over, number by number, is what the tree says."""
    domain, pieces = cut_of(symbolic, steps=steps, count=cores)
    for n in (3, 9, 20, 2 * pieces.least * cores):
        at = isl.Set(f"[n, steps] -> {{ : n = {n} and steps = 9 }}")
        width = pieces.width.intersect_params(at).max_val().to_python()
        here = domain.intersect_params(at)
        rest = here.project_out_all_params()
        for number in range(cores):
            own = with_ends(pieces.one_piece, here, {BEGIN: number * width, END: (number + 1) * width})
            assert own.is_equal(with_number(pieces.full_cut, pieces.full_cut.piece, number, here, across=0))
            rest = rest.subtract(own)
        for number in range(1, 2 * cores - 1):
            own = with_ends(pieces.one_half, here, {BEGIN: number * width, END: (number + 1) * width,
                                                    BORDER: (number + 1) // 2 * width})
            assert own.is_equal(with_number(pieces.full_cut, pieces.full_cut.half, number, here, across=1))
            assert own.is_subset(rest)
            rest = rest.subtract(own)
        assert rest.is_empty()


def with_ends(part, here, ends):
    """The instances of one piece or half at given ends."""
    given = isl.Set(f"[{', '.join(ends)}] -> {{ : {' and '.join(f'{k} = {v}' for k, v in ends.items())} }}")
    return part.intersect_params(given).intersect(here).project_out_all_params()


def with_number(cut, function, number, here, *, across):
    """The instances of one piece or half by its number."""
    found = isl.UnionMap.from_union_pw_aff(function).intersect_range(isl.UnionSet(f"{{ [{number}] }}")).domain()
    return found.intersect(cut.where(across)).intersect(here).project_out_all_params()


def test_for_many_threads_there_are_wavefronts_of_space_whose_size_is_a_parameter(symbolic, caplog):
    tiled = tile(symbolic, plain(sizes=(2, 8, 16), split=True, target=replace(MACHINE, cores=MOST_PIECES + 1)))
    assert f"for up to {MOST_PIECES} threads" in caplog.text
    assert tiled.bands[0].wavefront


def test_the_width_of_pieces_is_computed_by_the_program(symbolic):
    tiled = tile(symbolic, plain(sizes=(4, 8, 16), split=True, target=replace(MACHINE, cores=2)))
    text = emit(tiled, options=EmitOptions(vector_bits=0)).text
    assert "const long width = polysched_max(15, ((long)n + 13) / 2);" in text
    assert "const long begin = i_tile * width;" in text
    assert "const long border = (i_tile + 1) / 2 * width;" in text
    assert text.count("schedule(static)") == 3


def test_the_model_splits_space_whose_size_is_a_parameter_with_the_edges_of_wavefronts(symbolic):
    both, waves = (tile(symbolic, TilingOptions(target=SMALL, split=split)) for split in (None, False))
    assert both.bands[0].pieces == 2
    assert both.bands[0].sizes == waves.bands[0].sizes
    assert "split: 2 pieces of space" in explain_text(explanations(both, SMALL)[0])


def test_with_sizes_that_the_user_names_split_tiles_have_edges_of_their_own(symbolic):
    named = tile(symbolic, TilingOptions(target=SMALL, parameters={"n": 400, "steps": 60}))
    assert named.bands[0].pieces == 2
    assert 60 % named.bands[0].sizes[0] == 0, "even shares of the steps"
    assert_legal(named)


PROGRAMS_AT_ANY_SIZE = ("two arrays in turn", "three dimensions", "one dimension", "fields that drive each other",
                        "a rolling array", "in place")


@pytest.mark.parametrize(("program", "cores"), and_campaign(
    [*(("two arrays in turn", cores) for cores in (2, 3, 4)), ("three dimensions", 3), ("one dimension", 2),
     ("one dimension", 4), ("fields that drive each other", 2), ("a rolling array", 3), ("in place", 2)],
    itertools.product(PROGRAMS_AT_ANY_SIZE, (2, 3, 4))))
def test_at_every_size_the_source_is_computed(program, cores, tmp_path):
    """From no space at all, over fewer pieces than threads, to pieces of several tiles."""
    heads, body, edges = PROGRAMS[program]
    heads = heads.format(element="double")
    text = f"void f(int steps, int n, int m, int l, {heads}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tiled, ours, source = compiled_at_any_size(text, edges, cores, 256, tmp_path)
    assert tiled.bands[0].pieces == (0 if program == "in place" else cores)
    for n in (1, 2, 3, 4, 9, 13, 14, 26, 27, 28, 40, 61):
        for steps in (1, edges[0], edges[0] + 1, 2 * edges[0] + 1):
            sizes = (n, 19 if "[m]" in heads else 1, 20 if "[l]" in heads else 1)
            arrays = arrays_of(heads, sizes)
            assert run(ours, arrays, (steps, *sizes)) == run(source, arrays, (steps, *sizes)), (n, steps)


def compiled_at_any_size(text: str, edges: tuple[int, ...], cores: int, bits: int, folder: Path):
    """The tiled schedule, the split tiles compiled, and the source compiled."""
    tiled = tile(pluto_of(text), TilingOptions(
        sizes=edges, split=True, target=replace(MACHINE, cores=cores, vector_bits=bits)))
    head = text[:text.index("#pragma")]
    ours = load(f"{head}{emit(tiled).text}}}\n", folder, flags=("-O1", "-fopenmp")).f
    return tiled, ours, load(text, folder, strict=False).f


@pytest.mark.parametrize("seed", and_campaign(range(7), range(12)))
def test_random_stencils_of_any_size_compute_what_the_source_does(seed, tmp_path):
    source = random.Random(1000 + seed)
    text, extents = next((text, extents) for text, extents in iter(lambda: random_stencil(source), None)
                         if len(set(extents)) == len(extents))   # so that each becomes a parameter of its own
    names = "nml"[:len(extents)]
    for name, extent in zip(names, extents, strict=True):   # of equal extents the first name stands for both
        text = text.replace(f"[{extent}]", f"[{name}]").replace(f"< {extent} -", f"< {name} -")
    text = text.replace("void f(", f"void f(int steps, {', '.join(f'int {name}' for name in names)}, ", 1)
    text = re.sub(r"t < \d+;", "t < steps;", text, count=1)
    edges = (source.randint(1, 4), *(source.randint(3, 16) for _ in extents))
    tiled, ours, expected = compiled_at_any_size(text, edges, source.randint(2, 4), source.choice((128, 256, 512)),
                                                 tmp_path)
    heads = text[text.index("double"):text.index(")")]
    most = (70, 40, 18)[len(extents) - 1]
    for n in (5, 6, 9, 14, 23, 24, most):
        sizes = (n, *(source.randint(5, 20) for _ in names[1:]))
        arrays = arrays_of(heads, (*sizes, 1, 1)[:3])
        for steps in (1, edges[0] + 1, 7):
            assert run(ours, arrays, (steps, *sizes)) == run(expected, arrays, (steps, *sizes)), (
                f"{text}\n{shape(tiled)} {sizes} {steps}")


def random_stencil(source: random.Random) -> tuple[str, tuple[int, ...]]:
    """Arrays that are computed from each other in turn, with reads at random distances; their extents."""
    dimensions = source.choice((1, 1, 2, 2, 3))
    reach = source.choice((1, 1, 2))
    sizes = tuple(source.randint(*((30, 90), (20, 44), (14, 20))[dimensions - 1]) for _ in range(dimensions))
    names = "ABC"[:source.randint(2, 3)]
    loops = " ".join(f"for (int {i} = {reach}; {i} < {n} - {reach}; {i}++)"
                     for i, n in zip("ijk", sizes, strict=False))
    lines = []
    for number, name in enumerate(names):
        before = names[number - 1]
        reads = []
        for _ in range(source.randint(2, 4)):
            other = before if source.random() < 0.8 or before == names[0] else names[0]
            place = "".join(f"[{i} + {source.randint(-reach, reach)}]" for i, _ in zip("ijk", sizes, strict=False))
            reads.append(f"0.{source.randint(1, 4)} * {other}{place}")
        lines.append(f"{loops} {name}{''.join(f'[{i}]' for i, _ in zip('ijk', sizes, strict=False))} = "
                     f"{' + '.join(reads)};")
    heads = ", ".join(f"double {name}{''.join(f'[{n}]' for n in sizes)}" for name in names)
    steps = source.randint(3, 12)
    return (f"void f({heads}) {{\n#pragma scop\nfor (int t = 0; t < {steps}; t++) {{\n" + "\n".join(lines)
            + "\n}\n#pragma endscop\n}\n", sizes)


@pytest.mark.parametrize(("seeds", "least"), and_campaign([((0, 6), 2)], [((6, 16), 2)]))
def test_random_stencils_compute_what_the_source_does(seeds, least, tmp_path):
    """And are split often enough for this to say something."""
    split = 0
    for seed in range(*seeds):
        source = random.Random(seed)
        text, sizes = random_stencil(source)
        edges = (source.randint(1, 4), *(source.randint(3, 16) for _ in sizes))
        tiled, ours, expected = computed(text, edges, source.randint(2, 4), source.choice((128, 256, 512)), tmp_path,
                                         (*sizes, 1, 1)[:3])
        assert ours == expected, f"seed {seed}: {text}\n{shape(tiled)}"
        split += shape(tiled)[0] == "tile0"
    assert split >= least


def test_a_size_that_the_user_names_is_what_the_model_counts_with():
    given = tile(pluto_of(SYMBOLIC), TilingOptions(target=MACHINE, parameters={"n": 120}))
    typical = tile(pluto_of(SYMBOLIC), TilingOptions(target=MACHINE))
    nests = [made.bands[0].plan.nest for made in (given, typical)]
    assert [n.parameters["n"] for n in nests] == [120, 1024]
    assert [any(n.fixed) for n in nests] == [False, False]
    assert nests[0].expected == (False, False, False), "space is skewed by the steps, which nobody named"
    both = tile(pluto_of(SYMBOLIC),
                TilingOptions(target=MACHINE, parameters={"n": 120, "steps": 1000}))
    assert both.bands[0].plan.nest.expected == (True, True, True)
    assert_legal(both)


def test_a_size_that_arrays_bound_counts_as_one_that_the_user_names():
    """Programs whose arrays have sizes of their own mostly fill them; the code stays right for all smaller ones."""
    declared = SYMBOLIC.replace("[n][n]", "[120][120]")
    nest = tile(pluto_of(declared), TilingOptions(target=MACHINE)).bands[0].plan.nest
    assert nest.parameters == {"n": 120, "steps": 1024}
    assert not any(nest.fixed)
    with_steps = tile(pluto_of(declared.replace("int steps, ", "").replace("t < steps", "t < 500")),
                      TilingOptions(target=MACHINE))
    assert with_steps.bands[0].plan.nest.expected == (True, True, True)
    smaller = tile(pluto_of(declared), TilingOptions(target=MACHINE, parameters={"n": 50}))
    assert smaller.bands[0].plan.nest.parameters["n"] == 50, "what the user says comes first"
    assert_legal(with_steps)


def test_gaps_step_by_step_go_along_the_rows_of_arrays():
    """Pluto's order of the loops need not be that of memory: here the columns come in front of the rows."""
    heads, body, edges = PROGRAMS["fields that drive each other"]
    text = f"void f(int steps, int n, int m, {heads.format(element='double')}) {{\n#pragma scop\n{body}\n" \
           "#pragma endscop\n}\n"
    tiled = tile(pluto_of(text), plain(sizes=edges, split=True))
    assert tiled.bands[0].pieces == 2
    lines = emit(tiled, options=EmitOptions(vector_bits=0)).text.split("step by step */")[1].splitlines()
    heads_of = {}
    innermost = ""
    for line in lines:
        loop = re.search(r"for \(long (\w+)", line)
        innermost = loop[1] if loop else innermost
        if stored := re.match(r" *([ABC])\[", line):
            heads_of[stored[1], line.count("[i]")] = innermost
    assert len(heads_of) >= 3
    assert set(heads_of.values()) == {"j"}
