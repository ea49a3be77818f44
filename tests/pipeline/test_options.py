"""PipelineOptions are composed of the rooms' options, and their short forms are the same."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from polysched.emit_c import EmitOptions
from polysched.errors import UsageError
from polysched.kernel import kernel
from polysched.pipeline import PipelineOptions, SourceOptions
from polysched.pipeline.options import PARTS
from polysched.pipeline.short_options import SHORT, Short, ShortOptions
from polysched.records import LONGEST as LONGEST_REPR
from polysched.scheduling import SchedulerOptions
from polysched.target import CacheLevel, Target
from polysched.tensorize.options import TensorizeOptions
from polysched.tiling import BandOptions, TilingOptions

WIDE = Target(name="wide", vector_bits=512, vector_registers=32, cores=4)


@pytest.mark.parametrize(("short", "composed"), [
    ({"fusion": "max"}, {"scheduling": SchedulerOptions(fusion="max")}),
    ({"tile": 32}, {"tiling": TilingOptions(sizes=32)}),
    ({"tile": [32, 64], "parallel": False}, {"tiling": TilingOptions(sizes=(32, 64), parallel=False)}),
    ({"outer_tiles": (64,), "tile_order": (1, 0)}, {"tiling": TilingOptions(outer_sizes=(64,), order=(1, 0))}),
    ({"register_block": (4, 8)}, {"tiling": TilingOptions(register=(4, 8))}),
    ({"bands": {1: BandOptions(sizes=8)}}, {"tiling": TilingOptions(bands={1: BandOptions(sizes=8)})}),
    ({"cc": "clang", "defines": ("N=4",)}, {"source": SourceOptions(cc="clang", defines=("N=4",))}),
])
def test_a_short_form_is_the_field_of_its_part(short, composed):
    assert PipelineOptions(**short) == PipelineOptions(**composed)


def test_a_short_form_of_emission_is_the_field_of_its_part():
    assert PipelineOptions(vector_bits=512) == PipelineOptions(emission=EmitOptions(vector_bits=512))
    assert PipelineOptions(math="libm", reassociate=True) == PipelineOptions(
        emission=EmitOptions(math="libm", reassociate=True))


def test_every_short_form_is_a_field_that_can_be_given_and_read():
    plain = PipelineOptions()
    assert set(SHORT) == set(ShortOptions.__annotations__)
    for name, (part, field) in SHORT.items():
        assert part in PARTS
        assert field in {each.name for each in fields(getattr(plain, part))}
        if name != "register_block":   # reads None where the model chooses
            assert isinstance(getattr(PipelineOptions, name), Short)
            assert getattr(plain, name) == getattr(getattr(plain, part), field)


def test_replacing_a_short_form_keeps_all_else():
    given = PipelineOptions(tile=32, outer_tiles=(64,), cc="clang", vector_bits=512, register_block=(4, 16), safe=True)
    changed = replace(given, tile=16, vector_bits=None, register_block=None)
    assert (changed.tile, changed.outer_tiles, changed.cc, changed.safe) == (16, (64,), "clang", True)
    assert changed.vector_bits == PipelineOptions().vector_bits
    assert changed.register_block is None
    assert given.but(tile=16, vector_bits=None, register_block=None) == changed
    assert replace(changed, tile="auto", outer_tiles=(), cc=None, safe=False) == PipelineOptions()


def test_a_part_and_a_short_form_of_it_go_together():
    made = PipelineOptions(tiling=TilingOptions(sizes=32, target=WIDE), parallel=False)
    assert made.tiling == TilingOptions(sizes=32, target=WIDE, parallel=False)
    assert made.emission.vector_bits == 512, "the code is made for the target"
    assert made.target() == WIDE
    assert replace(made, vector_bits=256).target() == replace(WIDE, vector_bits=256)


def test_emission_follows_tiling():
    assert not PipelineOptions(parallel=False).emit_options().openmp
    assert not PipelineOptions(emission=EmitOptions(openmp=False)).emit_options().openmp
    assert PipelineOptions(packed=("B",)).emit_options().packing == ("B",)
    assert PipelineOptions(packed=("B",), bands={0: BandOptions(packed=("A",))}).emit_options().packing == ("B", "A")
    assert PipelineOptions(packed=("B",), bands={0: BandOptions(packed="auto")}).emit_options().packing is True
    assert PipelineOptions(parallel=False, bands={0: BandOptions(parallel=True)}).emit_options().openmp


def test_scheduling_asks_the_caches_of_the_target():
    machine = replace(WIDE, caches=(CacheLevel(level=1, size_bytes=1 << 14, line_bytes=128),
                                    CacheLevel(level=2, size_bytes=1 << 22)))
    made = PipelineOptions(tiling=TilingOptions(target=machine)).scheduler_options()
    assert (made.line_bytes, made.cache_bytes) == (128, machine.kept_bytes(2))
    given = PipelineOptions(tiling=TilingOptions(target=machine), scheduling=SchedulerOptions(cache_bytes=5))
    assert given.scheduler_options().cache_bytes == 5


def test_without_vectors_no_band_has_a_register_block():
    tiling = PipelineOptions(vector_bits=0, bands={0: BandOptions(register=(4, 8)), 1: BandOptions(sizes=8)})
    assert [own.register for own in tiling.tiling_options().each()] == [False, False, False]


@pytest.mark.parametrize(("options", "message"), [
    ({"tile": "big"}, "tile sizes cannot be 'big'"),
    ({"tile": True}, "tile sizes cannot be True"),
    ({"math": "fast"}, "no mathematical functions 'fast'"),
    ({"vector_bits": 96}, "vectors of 96 bits cannot be emitted"),
    ({"scheduler": "plutp"}, "no scheduler 'plutp'"),
    ({"fusion": "some"}, "no fusion policy 'some'"),
    ({"parallel_loop": 0, "parallel_degrees": 2}, "one loop by hand on threads needs threads"),
    ({"bands": {3: BandOptions(order=(0, 0))}}, "band 3: an order names each loop of a band at most once"),
])
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(UsageError) as refused:
        PipelineOptions(**options)
    assert message in str(refused.value)


def test_an_unknown_name_is_no_option():
    with pytest.raises(TypeError, match="has no option 'tlie'"):
        PipelineOptions(tlie=32)


def test_options_show_what_was_chosen():
    assert repr(PipelineOptions()) == "PipelineOptions()"
    assert repr(PipelineOptions(tile=32, cc="gcc", safe=True)) == "PipelineOptions(tile=32, cc='gcc', safe=True)"
    shown = repr(PipelineOptions(tiling=TilingOptions(target=WIDE, simd=False), pure=tuple("f" * 50 for _ in range(9))))
    assert "tiling.simd=False" in shown
    assert len(shown) <= LONGEST_REPR


def test_the_text_of_a_target_does_not_depend_on_the_process():
    target = replace(WIDE, features=frozenset({"sse", "avx", "avx2"}))
    shown = PipelineOptions(tiling=TilingOptions(target=target)).differences()["tiling.target"]
    assert "features={'avx', 'avx2', 'sse'}" in shown


def test_what_a_factory_gives_by_default_is_not_shown():
    assert repr(PipelineOptions(tensorize=TensorizeOptions(intrinsic="vnni"))) == (
        "PipelineOptions(tensorize=TensorizeOptions(intrinsic='vnni'))")
    chosen = PipelineOptions(tensorize=TensorizeOptions(intrinsic="vnni", sizes={"n": 4}))
    assert repr(chosen) == "PipelineOptions(tensorize=TensorizeOptions(intrinsic='vnni', sizes={'n': 4}))"
    target = PipelineOptions(tiling=TilingOptions(target=WIDE)).differences()["tiling.target"]
    assert "peak_flop_per_second" not in target


def test_a_decorated_kernel_keeps_composed_options():
    @kernel(options=PipelineOptions(tiling=TilingOptions(sizes=8), parallel=False), safe=True)
    def scale(a):
        for i in range(a.shape[0]):
            a[i] = 2 * a[i]
    assert scale.options == PipelineOptions(tile=8, parallel=False, safe=True)


def test_the_record_names_what_was_chosen_per_band():
    chosen = PipelineOptions(bands={1: BandOptions(sizes=(8, 16), parallel_loop=1)}).chosen()
    assert chosen["bands"] == {"1": {"sizes": (8, 16), "parallel_loop": 1}}
