"""Options that several commands share, and their conversion to the rooms' option values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.pipeline.options import PipelineOptions
    from polysched.scheduling import Strategy
    from polysched.scop.scop import Scop
    from polysched.target.calibrated import Calibrated
    from polysched.tensorize.decision import TensorizeOptions
    from polysched.tensorize.matching.facts import Numerics

SCHEDULERS = ("pluto", "feautrier", "isl", "original", "best")
SIZE_PATTERN = re.compile(r"[^=\s-][^=\s]*=-?\d+")
FUSIONS = ("none", "smart", "max", "typed", "cost")


def add_source(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """The C file and how it is preprocessed."""
    parser.add_argument("source", metavar="IN.c", help="C file with `#pragma scop` ... `#pragma endscop`",
                        nargs="?" if optional else None)
    parser.add_argument("-I", dest="include_dirs", metavar="DIR", action="append", default=[],
                        help="folder for #include, may be repeated")
    parser.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[],
                        help="define a macro, may be repeated")
    parser.add_argument("--autodetect", action="store_true",
                        help="take the largest regions that can be represented, marked by pragmas or not")
    parser.add_argument("--pure", metavar="FUNCTION", action="append", default=[],
                        help="a function that only computes with its arguments, may be repeated")
    parser.add_argument("--cc", metavar="COMMAND", help="the C compiler (default: $CC, gcc, clang, cc, or the "
                                                        "one that polysched[compiler] brings)")


def read_regions(arguments: argparse.Namespace) -> tuple[Scop, ...]:
    """Every region of the C file that `add_source` asked for."""
    from polysched.scop import all_from_c_file
    return all_from_c_file(arguments.source, include_dirs=tuple(arguments.include_dirs),
                           defines=tuple(arguments.defines), cc=arguments.cc, pure=tuple(arguments.pure),
                           autodetect=arguments.autodetect)


def add_transformation(parser: argparse.ArgumentParser) -> None:
    """What decides the transformation, and what is told of it."""
    group = add_choices(parser)
    group.add_argument("--dump-stages", metavar="DIR", help="write each stage's value as text into DIR, and the loops "
                                                            "behind each pass over them")
    group.add_argument("--json", metavar="FILE", help="write what was found, chosen and how long it took ('-': stdout)")


def add_choices(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What decides the transformation."""
    group = parser.add_argument_group("transformation")
    add_scheduling(group)
    add_tiling(group)
    group.add_argument("--assume", type=size, action="append", default=[], metavar="NAME=VALUE",
                       help="the value that the model takes for a parameter, may be repeated; the code is right for "
                            "all values (default: what arrays of constant extents admit, else a typical size)")
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
    group.add_argument("--safe", action="store_true",
                       help="keep the original code as an alternative: for the sizes for which the models do not say "
                            "that the transformed code pays; `run` keeps it altogether where that turns out slower")
    group.add_argument("--verify-passes", action="store_true",
                       help="check the invariants of the loops behind every pass over them")
    return group


def add_tiling(group: argparse._ActionsContainer) -> None:
    """What decides tiles and threads."""
    group.add_argument("--tile", type=tile_sizes, default="auto", metavar="32|32,32,64|auto|off",
                       help="tile edges: one for all loops, one per loop, or chosen by the model (default: auto)")
    group.add_argument("--collapse", action=argparse.BooleanOptionalAction, default=True,
                       help="one loop for two over whole rows that are no whole vectors; only where nothing is chosen "
                            "by hand (default: --collapse)")
    group.add_argument("--outer-tile", type=outer_tile_edges, action="append", default=[], metavar="128|128,256,256",
                       help="tiles around those of --tile, by hand, 0 for no loop; again for a further level, the "
                            "outermost first; 0,0,512 are steps that all threads take together, where only the first "
                            "two loops can run on threads")
    group.add_argument("--tile-order", type=loop_order, default=(), metavar="2,0,1",
                       help="order of the loops over tiles, outermost first; 0 is the first loop of a band (default: "
                            "by the model)")
    group.add_argument("--point-order", type=loop_order, default=(), metavar="2,0,1",
                       help="order of the loops inside a tile (default: by the model)")
    group.add_argument("--outer-order", type=loop_order, action="append", default=[], metavar="2,0,1",
                       help="order of the loops over the tiles of --outer-tile; again for a further level")
    group.add_argument("--register-block", type=register_block, default=None, metavar="ROWSxCOLUMNS",
                       help="the only block of accumulators that vector registers may hold (default: by the model)")
    group.add_argument("--pack", type=packed_arrays, default=None, metavar="A,B|auto|none",
                       help="the arrays whose elements register blocks read from contiguous copies (default: auto, by "
                            "the model)")
    group.add_argument("--parallel", action=argparse.BooleanOptionalAction, default=True,
                       help="OpenMP threads (default: --parallel)")
    group.add_argument("--parallel-degrees", type=positive, default=1, metavar="N",
                       help="how many loops of a nest are parallel, by wavefronts of so many dimensions where no loop "
                            "is free of dependences (default: %(default)s)")
    group.add_argument("--split-tiles", action=argparse.BooleanOptionalAction, default=None,
                       help="tiles of stencils over time as trapezoids of a piece of space per thread, with the gaps "
                            "between them, instead of wavefronts (default: by the model, where it chooses the tiles)")
    group.add_argument("--machine", metavar="FILE",
                       help="costs of the machine as `polysched machine --calibrate` measured them (default: shipped "
                            "values)")
    group.add_argument("--vector-bits", type=int, choices=(0, 128, 256, 512), default=None,
                       help="width of the vectors in the emitted code; 0 leaves them to the C compiler "
                            "(default: this machine's)")


def add_instructions(parser: argparse.ArgumentParser) -> None:
    """Which instructions may compute statements."""
    group = parser.add_argument_group("instructions")
    group.add_argument("--intrinsic", metavar="NAME|auto|none", help="compute statements by a described instruction, "
                       "or by the best that this machine executes; --size makes the code for one size (default: where "
                       "the model finds it faster, the best that changes no bit of a result)")
    group.add_argument("--measure-plans", action="store_true",
                       help="with --intrinsic: of the models' register blocks and tiles take those that run fastest "
                            "on this machine")
    group.add_argument("--verify-instructions", choices=("auto", "always", "never"), default="auto",
                       help="run the code with an instruction beside the statement that it replaces before it is used: "
                            "where no verdict on the same code is kept, always, or never (default: %(default)s)")
    group.add_argument("--intrinsics", metavar="FILE.py", action="append", default=[],
                       help="a file that describes further instructions")
    group.add_argument("--allow", metavar="WHAT", default="reassociate,contract,flush",
                       help="what an instruction may change in floating-point results, of reassociate, contract, "
                            "flush, narrow, with commas, or none (default: %(default)s)")


def add_scheduling(group: argparse._ActionsContainer) -> None:
    """What decides the schedule."""
    group.add_argument("--scheduler", choices=SCHEDULERS, default="pluto",
                       help="best tiles what each of the others finds and takes what the cost model finds cheapest "
                            "(default: %(default)s)")
    group.add_argument("--strategy", metavar="FILE", help="a strategy as JSON, followed instead of a named scheduler")
    group.add_argument("--fusion", choices=FUSIONS, default="smart",
                       help="which loop nests the scheduler fuses (default: %(default)s)")
    group.add_argument("--iss", action="store_true", dest="split_index_sets",
                       help="cut periodic domains in the middle, where that makes time tileable (index-set splitting)")
    group.add_argument("--concurrent-start", type=int, default=0, metavar="DIMENSIONS",
                       help="in how many dimensions tiles of a pipeline shall start together, as diamonds (default: 0)")
    group.add_argument("--expand", action=argparse.BooleanOptionalAction, default=True,
                       help="give temporaries a copy per iteration where that frees the order (default: --expand)")


def read_strategy(name: str | None) -> Strategy | None:
    """The strategy of a file.

    Raises
    ------
    UsageError : it cannot be read, or is no strategy.
    """
    from polysched.errors import UsageError
    from polysched.scheduling import Strategy
    if name is None:
        return None
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("the strategy cannot be read", where=name, witness=str(error)) from error
    try:
        return Strategy.from_json(text)
    except UsageError as error:
        raise UsageError(error.problem, where=f"{name}, {error.where}" if error.where else name, witness=error.witness,
                         hint=error.hint) from None


def read_machine(name: str | None) -> Calibrated | None:
    """The costs of a file; None where none is named."""
    from polysched.target.calibrated import read_calibrated
    return None if name is None else read_calibrated(Path(name))


def tile_sizes(text: str) -> int | tuple[int, ...] | Literal["auto", "off"]:
    """The value of `--tile`."""
    if text == "auto":
        return "auto"
    return "off" if text == "off" else tile_edges(text)


def outer_tile_edges(text: str) -> int | tuple[int, ...]:
    """The value of `--outer-tile`."""
    return tile_edges(text, least=0)


def tile_edges(text: str, *, least: int = 1) -> int | tuple[int, ...]:
    """Tile edges as numbers: one for all loops, or one per loop."""
    try:
        edges = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or a list like 32,32,64") from None
    if any(edge < least for edge in edges):
        raise argparse.ArgumentTypeError(f"{text!r}: a tile size is at least {least}")
    if not any(edges):
        raise argparse.ArgumentTypeError(f"{text!r}: no loop has a tile size")
    return edges if len(edges) > 1 else edges[0]


def loop_order(text: str) -> tuple[int, ...]:
    """The loops of a band in an order, by their numbers."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of loops like 2,0,1") from None


def packed_arrays(text: str) -> tuple[str, ...] | None:
    """The option `--pack` as a value: None for auto."""
    if text in ("auto", "none"):
        return None if text == "auto" else ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto, nor none, nor names of arrays with commas between")
    return names


def register_block(text: str) -> tuple[int, int]:
    """The value of `--register-block`."""
    rows, times, columns = text.partition("x")
    if not times or not all(part.isdecimal() and int(part) for part in (rows, columns)):
        raise argparse.ArgumentTypeError(f"{text!r} is not rows and columns, like 8x32")
    return int(rows), int(columns)


def size(text: str) -> tuple[str, int]:
    """One value of `--size`, NAME=VALUE."""
    name, equals, value = text.partition("=")
    try:
        number = int(value)
    except ValueError:
        number = None
    if not name or not equals or number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE with a whole number")
    return name, number


def known_sizes(sizes: Sequence[tuple[str, int]], scops: Iterable[Scop], where: str) -> dict[str, int]:
    """The values of `--size` by parameter; one of the function that its region does not use is left out.

    Raises
    ------
    UsageError : neither a region nor its function has a parameter of the name.
    """
    from polysched.scop.signature import ParameterKind
    scops = tuple(scops)
    names = {name: p.name for scop in scops for p in scop.parameters for name in (p.spelling, p.name)}
    unused = {p.name for scop in scops if scop.source is not None and scop.source.signature is not None
              for p in scop.source.signature.parameters if p.kind is ParameterKind.INTEGER}
    if unknown := sorted({name for name, _ in sizes} - set(names) - unused):
        raise UsageError(f"no parameter {unknown[0]}", where=where,
                         hint=f"parameters are {', '.join(sorted(names)) or 'none'}")
    return {names[name]: value for name, value in sizes if name in names}


def separate_sizes(argv: Sequence[str]) -> list[str]:
    """Write `--size N=1 M=2` as `--size N=1 --size M=2`, so that what follows the sizes may be a file name."""
    result: list[str] = []
    in_sizes = False
    for word in argv:
        if in_sizes and result[-1] != "--size" and SIZE_PATTERN.fullmatch(word):
            result.append("--size")
        elif result and result[-1] != "--size":
            in_sizes = False
        in_sizes |= word == "--size"
        result.append(word)
    return result


def positive(text: str) -> int:
    """A whole number that is at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def positive_seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def pipeline_options(arguments: argparse.Namespace) -> PipelineOptions:
    """The pipeline's options from the command line's."""
    from dataclasses import replace
    return replace(
        tiled_options(arguments), math=arguments.math,
        reassociate=arguments.reassociate, guard=arguments.guard, safe=arguments.safe,
        autodetect=arguments.autodetect, verify_passes=arguments.verify_passes,
        pure=tuple(arguments.pure), assumed=tuple(arguments.assume),
        include_dirs=tuple(arguments.include_dirs), defines=tuple(arguments.defines), cc=arguments.cc,
        tensorize=tensorize_options(arguments),
        verify_instructions=getattr(arguments, "verify_instructions", "auto"))


def tiled_options(arguments: argparse.Namespace) -> PipelineOptions:
    """The part of the pipeline's options that `add_scheduling` and `add_tiling` declare."""
    from dataclasses import replace
    return replace(scheduling_options(arguments), tile=arguments.tile, outer_tiles=tuple(arguments.outer_tile),
                   tile_order=arguments.tile_order, point_order=arguments.point_order,
                   outer_orders=tuple(arguments.outer_order), register_block=arguments.register_block,
                   packed=arguments.pack, parallel=arguments.parallel, parallel_degrees=arguments.parallel_degrees,
                   split_tiles=arguments.split_tiles, collapse=arguments.collapse, vector_bits=arguments.vector_bits,
                   machine=read_machine(arguments.machine))


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

    from polysched.tensorize.decision import BY_DEFAULT, NONE, TensorizeOptions
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
    names = ("reassociate", "contract", "flush", "narrow")
    if unknown := sorted(words - set(names)):
        raise UsageError(f"--allow knows no {unknown[0]!r}", hint=f"one of {', '.join(names)}, or none")
    return Numerics(**{n: n in words for n in names})
