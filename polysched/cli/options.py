"""Options that several commands share, and their conversion to the rooms' option values."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.cli.conventions import (
    STANDARD,
    WORK_ITEMS,
    Input,
    OncePerName,
    add_assume,
    add_cc,
    add_json,
    add_target,
    chosen_device,
    chosen_target,
)
from polysched.cli.values import (
    PerBand,
    band_member,
    block_edges,
    element_type,
    loop_order,
    natural,
    outer_tile_edges,
    packed_arrays,
    positive,
    register_block,
    tile_sizes,
    tiles_over_time,
    words,
)
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.gpu import GpuOptions
    from polysched.gpu.scratchpad.options import ScratchpadOptions
    from polysched.pipeline.options import PipelineOptions
    from polysched.scheduling import Strategy
    from polysched.scop.scop import Scop
    from polysched.tensorize.matching.facts import Numerics
    from polysched.tensorize.options import TensorizeOptions

SCHEDULERS = ("pluto", "feautrier", "isl", "original", "best")
MLIR, OPENSCOP = ".mlir", ".scop"
C_OR_OTHER = ("C file with `#pragma scop` ... `#pragma endscop`, FILE.mlir, or FILE.scop in OpenScop; - reads "
              "standard input")
STANDARD_INPUT = "<stdin>"
FUSIONS = ("none", "smart", "max", "typed", "cost")
DESCRIBED_DEVICES = ("sm_80", "sm_90", "xe_lp", "pocl")
TENSOR_INSTRUCTIONS = ("mma", "wmma", "wgmma")


def add_source(parser: argparse.ArgumentParser, *, optional: bool = False, metavar: str = "IN.c",
               what: str = "C file with `#pragma scop` ... `#pragma endscop`; - reads standard input") -> None:
    """The C file and how it is preprocessed."""
    parser.add_argument("source", type=Input, metavar=metavar, nargs="?" if optional else None, help=what)
    add_preprocessing(parser)
    parser.add_argument("--autodetect", action="store_true",
                        help="take the largest regions that can be represented, marked by pragmas or not")
    parser.add_argument("--pure", metavar="FUNCTION", action="append", default=[],
                        help="a function that only computes with its arguments, may be repeated")


def add_any_source(parser: argparse.ArgumentParser) -> None:
    """A C file, or text of MLIR or OpenScop, for commands that read regions of all of these."""
    add_source(parser, what=C_OR_OTHER)
    parser.add_argument("--element-type", type=element_type, action=OncePerName, default=[], metavar="ARRAY=TYPE",
                        dest="element_types",
                        help="of OpenScop, which names no types: the C type of an array's elements, may be repeated "
                             "(default: double)")


def add_preprocessing(parser: argparse.ArgumentParser) -> None:
    """How a C file is preprocessed, and by whom."""
    parser.add_argument("-I", dest="include_dirs", metavar="DIR", action="append", default=[],
                        help="folder for #include, may be repeated")
    parser.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[],
                        help="define a macro, may be repeated")
    add_cc(parser)


def read_regions(arguments: argparse.Namespace) -> tuple[Scop, ...]:
    """Every region of the C file, or text of MLIR or OpenScop, that `add_source` asked for."""
    from polysched.scop import all_from_c_file, all_from_c_text
    options = {"include_dirs": tuple(arguments.include_dirs), "defines": tuple(arguments.defines), "cc": arguments.cc,
               "pure": tuple(arguments.pure), "autodetect": arguments.autodetect}
    if arguments.source.endswith(OPENSCOP):
        return _from_openscop(read_text(arguments.source, "the file"), arguments.source, arguments)
    if arguments.source.endswith(MLIR):
        return _from_mlir(read_text(arguments.source, "the file"), arguments.source, arguments)
    if arguments.source != STANDARD:
        _refuse_types(arguments, "C", arguments.source)
        return all_from_c_file(arguments.source, **options)
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    from polysched.scop.mlir_frontend import begins_as_mlir
    if begins_as_mlir(text):
        return _from_mlir(text, STANDARD_INPUT, arguments)
    from polysched.scop.openscop import begins_as_openscop
    if begins_as_openscop(text):
        return _from_openscop(text, STANDARD_INPUT, arguments)
    _refuse_types(arguments, "C", STANDARD_INPUT)
    return all_from_c_text(text, path=STANDARD_INPUT, **options)


def _from_mlir(text: str, path: str, arguments: argparse.Namespace) -> tuple[Scop, ...]:
    """The functions of a text of MLIR.

    Raises
    ------
    UsageError : an option is given that only C has a use for.
    """
    from polysched.scop.mlir_frontend import all_from_mlir
    _refuse_options_of_c(arguments, "MLIR", path)
    _refuse_types(arguments, "MLIR", path)
    return all_from_mlir(text, path=path)


def _from_openscop(text: str, path: str, arguments: argparse.Namespace) -> tuple[Scop, ...]:
    """The regions of a text of OpenScop; raises as `_from_mlir`."""
    from polysched.scop import all_from_openscop
    _refuse_options_of_c(arguments, "OpenScop", path)
    return all_from_openscop(text, path=path, types=dict(getattr(arguments, "element_types", ())))


def _refuse_types(arguments: argparse.Namespace, form: str, path: str) -> None:
    if getattr(arguments, "element_types", ()):
        raise UsageError(f"--element-type does nothing for a file of {form}, which names its types", where=path,
                         hint="leave it out")


def _refuse_options_of_c(arguments: argparse.Namespace, form: str, path: str) -> None:
    for name, option in (("include_dirs", "-I"), ("defines", "-D"), ("pure", "--pure"), ("cc", "--cc"),
                         ("autodetect", "--autodetect")):
        if getattr(arguments, name):
            raise UsageError(f"{option} does nothing for a file of {form}", where=path, hint="leave it out")


def read_text(name: str, what: str) -> str:
    """The text of a file, or of standard input.

    Raises
    ------
    UsageError : it cannot be read.
    """
    try:
        return sys.stdin.read() if name == STANDARD else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{what} cannot be read: {error.strerror}", where=name) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} cannot be read: it is no text", where=name,
                         witness=f"the byte {error.object[error.start]:#x} at {error.start}",
                         hint="text is read in UTF-8") from error


def add_transformation(parser: argparse.ArgumentParser) -> None:
    """What decides the transformation, and what is told of it."""
    group = add_choices(parser)
    group.add_argument("--database", metavar="FILE",
                       help="use what `polysched tune` found for a region, here and for about these sizes "
                            "(--assume, --size)")
    group.add_argument("--dump-stages", metavar="DIR", help="write each stage's value as text into DIR, and the loops "
                                                            "after each pass over them")
    add_json(group, "what was found, what was chosen and how long it took")


def add_choices(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What decides the transformation."""
    group = parser.add_argument_group("transformation")
    add_scheduling(group)
    add_tiling(group)
    group.add_argument("--math", choices=("vector", "libm"), default="vector",
                       help="functions of math.h in vector loops: own code within 4 units in the last place, or those "
                            "of the C library, which keep a loop scalar (default: %(default)s)")
    add_instructions(parser)
    group.add_argument("--reassociate", action="store_true",
                       help="allow sums and products of floats in another order, and equal constant factors taken "
                            "out of sums, which rounds differently")
    group.add_argument("--guard", action=argparse.BooleanOptionalAction, default=None,
                       help="test at run time what the extraction assumes, with the original code as the other branch "
                            "(default: with --autodetect, which leaves loops as they are where no test can tell)")
    group.add_argument("--portable", action=argparse.BooleanOptionalAction, default=None,
                       help="functions with vectors wider than 16 bytes stand in a copy for their target, chosen at "
                            "run time beside the original, so that plain gcc -O2 makes good code; the first line "
                            "of the file names the flags that make it faster (default: for C that this machine's "
                            "cores run)")
    group.add_argument("--safe", action="store_true",
                       help="keep the original code as an alternative: for the sizes for which the models do not say "
                            "that the transformed code pays; `run` keeps it altogether where that turns out slower")
    group.add_argument("--device", dest="devices", type=words, default=(), metavar="NAME[,NAME]",
                       help="devices whose models choose what is not given of `--target opencl` or `cuda`, of "
                            f"{', '.join(DESCRIBED_DEVICES)} (default: of cuda sm_80 and sm_90; of opencl the device "
                            "that is found here, or those of cuda where nothing describes it)")
    group.add_argument("--block", type=block_edges, default=(), metavar="X[,Y[,Z]]",
                       help="work items of a block of `--target opencl` or `cuda`, fastest dimension first (default: "
                            "those with which the model expects the least time, 256 in all at most)")
    group.add_argument("--points", type=block_edges, default=(), metavar="X[,Y[,Z]]",
                       help="values of each coordinate that a work item of `--target opencl` or `cuda` has, fastest "
                            "dimension first; 1 for one alone (default: those with which the model expects the "
                            "least time)")
    group.add_argument("--no-shared-memory", dest="shared_memory", action="store_false",
                       help="with `--target opencl` or `cuda`: stage nothing that a block reads again and again in "
                            "shared memory")
    group.add_argument("--tensor-cores", type=words, default=(), metavar="KINDS",
                       help="products of `--target cuda` that tensor cores of sm_80 or later compute, by their "
                            "operands, of int8 (exact), float16, bfloat16 (sums of float in another order) and tf32 "
                            "(operands of float cut to 10 bits as well), with commas (default: none)")
    group.add_argument("--tensor-instruction", choices=TENSOR_INSTRUCTIONS, default=TENSOR_INSTRUCTIONS[0],
                       help="what computes the products of --tensor-cores: mma, whose lanes fill their fragments "
                            "themselves, wmma, which loads and stores fragments, or wgmma, with which four warps "
                            "multiply what lies in shared memory, on sm_90 alone (default: mma)")
    group.add_argument("--no-double-buffering", dest="double_buffering", action="store_false",
                       help="with `--target davinci` or `gemmini`: nothing is loaded for a tile while another one is "
                            "computed; buffers take half the room")
    group.add_argument("--no-shared-tiles", dest="shared_tiles", action="store_false",
                       help="with `--target davinci` or `gemmini`: every loop nest has tiles of its own, and hands its "
                            "results on through memory")
    group.add_argument("--verify-passes", action="store_true",
                       help="check the invariants of the loops after every pass over them")
    return group


def add_tiling(group: argparse._ActionsContainer, *, collapse: bool = True) -> None:
    """What decides tiles and threads, of all bands or, as `BAND:VALUE`, of one.

    Parameters
    ----------
    collapse : loops over short rows may become one; otherwise they stay as they are, and there is no option for them.
    """
    group.set_defaults(bands={})
    group.add_argument("--tile", action=PerBand, field="sizes", convert=tile_sizes, default="auto",
                       metavar="32|32,32,64|auto|off",
                       help="tile edges: one for all loops, one per loop, or chosen by the model (default: auto); this "
                            "option and those below that say so take BAND:VALUE for one band: --tile 1:64,64")
    if collapse:
        group.add_argument("--collapse", action=argparse.BooleanOptionalAction, default=True,
                           help="one loop for two over whole rows that are no whole vectors; only where nothing is "
                                "chosen by hand (default: --collapse)")
    else:
        group.set_defaults(collapse=False)
    group.add_argument("--outer-tile", action=PerBand, field="outer_sizes", convert=outer_tile_edges, several=True,
                       default=(), metavar="128|128,256,256",
                       help="tiles around those of --tile, by hand, 0 for no loop; again for a further level, the "
                            "outermost first; 0,0,512 are steps that all threads take together, where only the first "
                            "two loops can run on threads; or BAND:VALUE")
    group.add_argument("--tile-order", action=PerBand, field="order", convert=loop_order, default=(), metavar="2,0,1",
                       help="order of the loops over tiles, outermost first; 0 is the first loop of a band (default: "
                            "by the model); or BAND:VALUE")
    group.add_argument("--point-order", action=PerBand, field="point_order", convert=loop_order, default=(),
                       metavar="2,0,1",
                       help="order of the loops inside a tile (default: by the model); or BAND:VALUE")
    group.add_argument("--outer-order", action=PerBand, field="outer_orders", convert=loop_order, several=True,
                       default=(), metavar="2,0,1",
                       help="order of the loops over the tiles of --outer-tile; again for a further level; or "
                            "BAND:VALUE")
    group.add_argument("--register-block", action=PerBand, field="register", convert=register_block, default=None,
                       metavar="ROWSxCOLUMNS",
                       help="the only block of accumulators that vector registers may hold (default: by the model); or "
                            "BAND:VALUE")
    group.add_argument("--pack", action=PerBand, field="packed", convert=packed_arrays, default=None,
                       metavar="A,B|auto|none",
                       help="the arrays whose elements register blocks read from contiguous copies (default: auto, by "
                            "the model); or BAND:VALUE")
    group.add_argument("--parallel", action=argparse.BooleanOptionalAction, default=True,
                       help="OpenMP threads (default: --parallel)")
    group.add_argument("--parallel-degrees", type=positive, default=1, metavar="N",
                       help="how many loops of a nest are parallel, by wavefronts of so many dimensions where no loop "
                            "is free of dependences (default: %(default)s)")
    group.add_argument("--parallel-loop", action=PerBand, field="parallel_loop", convert=band_member, default=None,
                       metavar="LOOP", help="the only loop of a band that may run on threads, 0 for its first one "
                                            "(default: the outermost that can); or BAND:VALUE, where BAND:none is none")
    group.add_argument("--split-tiles", action=argparse.BooleanOptionalAction, default=None,
                       help="tiles of stencils over time as trapezoids of a piece of space per thread, with the gaps "
                            "between them, instead of wavefronts (default: by the model, where it chooses the tiles)")
    group.add_argument("--tiles-over-time", action=PerBand, field="split", convert=tiles_over_time, default=None,
                       metavar="auto|split|wavefronts|diamonds",
                       help="the same as a choice of three, with diamonds, whose tiles all start together (default: "
                            "auto); or BAND:VALUE")
    group.add_argument("--vector-bits", type=natural, choices=(0, 128, 256, 512), default=None,
                       help="width of the vectors in the emitted code; 0 leaves them to the C compiler "
                            "(default: the target's)")
    add_assume(group)
    add_target(group)


def add_instructions(parser: argparse.ArgumentParser, *, run: bool = True) -> None:
    """Which instructions may compute statements.

    Parameters
    ----------
    run : the command has their code run, to compare or to time it.
    """
    group = parser.add_argument_group("instructions")
    group.add_argument("--intrinsic", metavar="NAME|auto|none", help="compute statements by a described instruction, "
                       "or by the best that this machine executes; --size makes the code for one size (default: where "
                       "the model finds it faster, the best that changes no bit of a result)")
    if run:
        _add_runs_of_instructions(group)
    else:
        group.set_defaults(measure_plans=False, verify_instructions="never")
    group.add_argument("--intrinsics", metavar="FILE.py", action="append", default=[],
                       help="a file that describes further instructions")
    group.add_argument("--allow", metavar="WHAT", default="reassociate,contract,flush,finite",
                       help="what an instruction may change in floating-point results, of reassociate, contract, "
                            "flush, finite, narrow, with commas, or none (default: %(default)s)")


def _add_runs_of_instructions(group: argparse._ActionsContainer) -> None:
    """When code with instructions runs before it is used."""
    group.add_argument("--measure-plans", action="store_true",
                       help="with --intrinsic: of the models' register blocks and tiles take those that run fastest "
                            "on this machine")
    group.add_argument("--verify-instructions", choices=("auto", "always", "never"), default="auto",
                       help="run the code with an instruction beside the statement that it replaces before it is used: "
                            "where no verdict on the same code is kept, always, or never (default: %(default)s)")


def add_scheduling(group: argparse._ActionsContainer) -> None:
    """What decides the schedule."""
    group.add_argument("--scheduler", choices=SCHEDULERS, default="pluto",
                       help="best tiles what each of the others finds and takes what the cost model finds cheapest "
                            "(default: %(default)s)")
    group.add_argument("--strategy", type=Input, metavar="FILE", help="a strategy as JSON, followed instead of a named "
                                                          "scheduler; - reads standard input")
    group.add_argument("--fusion", choices=FUSIONS, default="smart",
                       help="which loop nests the scheduler fuses (default: %(default)s)")
    group.add_argument("--iss", action="store_true", dest="split_index_sets",
                       help="cut periodic domains in the middle, where that makes time tileable (index-set splitting)")
    group.add_argument("--concurrent-start", type=natural, default=0, metavar="DIMENSIONS",
                       help="in how many dimensions tiles of a pipeline shall start together, as diamonds (default: 0)")
    group.add_argument("--expand", action=argparse.BooleanOptionalAction, default=True,
                       help="give temporaries a copy per iteration where that frees the order (default: --expand)")


def read_strategy(name: str | None) -> Strategy | None:
    """The strategy of a file.

    Raises
    ------
    UsageError : it cannot be read, or is no strategy.
    """
    from polysched.scheduling import Strategy
    if name is None:
        return None
    text = read_text(name, "the strategy")
    try:
        return Strategy.from_json(text)
    except UsageError as error:
        raise UsageError(error.problem, where=f"{name}, {error.where}" if error.where else name, witness=error.witness,
                         hint=error.hint) from None


def known_sizes(sizes: Sequence[tuple[str, int]], scops: Iterable[Scop], where: str, *,
                some_left: bool = False) -> dict[str, int]:
    """The values of `--size` by parameter; one of the function that its region does not use is left out.

    Parameters
    ----------
    some_left : the file may have more regions, which were left alone: what it names anywhere may be their parameter.

    Raises
    ------
    UsageError : neither a region nor its function has a parameter of the name.
    """
    scops = tuple(scops)
    names = {name: p.name for scop in scops for p in scop.parameters for name in (p.spelling, p.name)}
    unknown = sorted({name for name, _ in sizes} - set(names) - _integers_of_functions(scops))
    if unknown := [name for name in unknown if not (some_left and _in_a_file(name, scops))]:
        raise UsageError(f"no parameter {unknown[0]}", where=where,
                         hint=f"parameters are {', '.join(sorted(names)) or 'none'}")
    return {names[name]: value for name, value in sizes if name in names}


def _integers_of_functions(scops: Iterable[Scop]) -> set[str]:
    """The integer parameters of the functions around regions."""
    from polysched.scop.signature import ParameterKind
    return {p.name for scop in scops if scop.source is not None and scop.source.signature is not None
            for p in scop.source.signature.parameters if p.kind is ParameterKind.INTEGER}


def _in_a_file(name: str, scops: Iterable[Scop]) -> bool:
    """Whether the text that a region stands in has a name."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return any(scop.source is not None and word.search(scop.source.text) for scop in scops)


def pipeline_options(arguments: argparse.Namespace) -> PipelineOptions:
    """The pipeline's options from the command line's."""
    from dataclasses import replace

    from polysched.pipeline.source_options import SourceOptions
    device = chosen_device(arguments)
    if device is not None:
        arguments = argparse.Namespace(**{**vars(arguments), "target": "host"})
    options = tiled_options(arguments)
    emission = replace(options.emission, math=arguments.math, reassociate=arguments.reassociate,
                       verify_passes=arguments.verify_passes)
    source = SourceOptions(
        autodetect=arguments.autodetect, pure=tuple(arguments.pure), include_dirs=tuple(arguments.include_dirs),
        defines=tuple(arguments.defines), cc=arguments.cc)
    return replace(options, emission=emission, source=source, guard=arguments.guard, safe=arguments.safe,
                   portable=arguments.portable, tensorize=tensorize_options(arguments),
                   database=getattr(arguments, "database", None), device=device,
                   gpu=device_mapping(arguments, device), scratchpad=accelerator_mapping(arguments),
                   verify_instructions=getattr(arguments, "verify_instructions", "auto"))


def device_mapping(arguments: argparse.Namespace, device: str | None) -> GpuOptions:
    """How loops are mapped to a device, from the command line's options."""
    from polysched.gpu import GpuOptions
    steps = getattr(arguments, "time_tile", None) if device in WORK_ITEMS else None   # ranks have steps of their own
    return GpuOptions(devices=arguments.devices, block=arguments.block, points=arguments.points,
                      shared=arguments.shared_memory, tensor_cores=arguments.tensor_cores,
                      tensor_instruction=arguments.tensor_instruction, time_tile=steps or 0)


def accelerator_mapping(arguments: argparse.Namespace) -> ScratchpadOptions:
    """How loops are mapped to an accelerator, from the command line's options."""
    from polysched.gpu.scratchpad.options import ScratchpadOptions
    return ScratchpadOptions(double_buffering=arguments.double_buffering, share=arguments.shared_tiles)


def tiled_options(arguments: argparse.Namespace) -> PipelineOptions:
    """The part of the pipeline's options that `add_scheduling` and `add_tiling` declare."""
    from dataclasses import replace

    from polysched.tiling import BandOptions, TilingOptions
    form = arguments.tiles_over_time or {}
    if form and arguments.split_tiles is not None:
        raise UsageError("the form of tiles over time is given twice", witness="--split-tiles and --tiles-over-time",
                         hint="leave --split-tiles out")
    split = form.get("split", arguments.split_tiles)
    tiling = TilingOptions(
        sizes=arguments.tile, outer_sizes=arguments.outer_tile, order=arguments.tile_order,
        point_order=arguments.point_order, outer_orders=arguments.outer_order,
        register=arguments.register_block or True, packed=arguments.pack, parallel=arguments.parallel,
        parallel_degrees=arguments.parallel_degrees, parallel_loop=arguments.parallel_loop,
        split=None if split == "auto" else split, diamond=form.get("diamond", False), target=chosen_target(arguments),
        bands={band: BandOptions(**given) for band, given in arguments.bands.items()})
    return replace(scheduling_options(arguments), tiling=tiling, collapse=arguments.collapse,
                   assumed=tuple(arguments.assume)).but(vector_bits=arguments.vector_bits)


def scheduling_options(arguments: argparse.Namespace) -> PipelineOptions:
    """The part of the pipeline's options that `add_scheduling` declares."""
    from polysched.pipeline.options import PipelineOptions
    return PipelineOptions(
        scheduler=arguments.scheduler, strategy=read_strategy(arguments.strategy), fusion=arguments.fusion,
        split_index_sets=arguments.split_index_sets, concurrent_start=arguments.concurrent_start,
        expand=arguments.expand)


def tensorize_options(arguments: argparse.Namespace) -> TensorizeOptions | None:
    """The choice of instructions from the command line's; None with `--intrinsic none`."""
    from dataclasses import replace

    from polysched.tensorize.options import BY_DEFAULT, NONE, TensorizeOptions
    wanted = getattr(arguments, "intrinsic", None)
    if wanted == NONE:
        return None
    if wanted is None:
        return replace(BY_DEFAULT, sizes=dict(getattr(arguments, "size", ())),
                       files=tuple(getattr(arguments, "intrinsics", ())))
    return TensorizeOptions(intrinsic=arguments.intrinsic, files=tuple(arguments.intrinsics),
                            measure=arguments.measure_plans, sizes=dict(arguments.size),
                            numerics=numerics(arguments.allow))


def numerics(allowed: str) -> Numerics:
    """The option `--allow` as a value."""
    from polysched.tensorize.matching.facts import Numerics
    words = {w.strip() for w in allowed.split(",") if w.strip()} - {"none"}
    names = ("reassociate", "contract", "flush", "finite", "narrow")
    if unknown := sorted(words - set(names)):
        raise UsageError(f"--allow knows no {unknown[0]!r}", hint=f"one of {', '.join(names)}, or none")
    return Numerics(**{n: n in words for n in names})
