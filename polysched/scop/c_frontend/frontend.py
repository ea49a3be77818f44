"""The C front end: from a file to its Scops."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pycparser import c_ast

from polysched.errors import BudgetExceededError, PolyschedError, SourceLocation, UnsupportedScopError, UsageError
from polysched.scop.budget import in_words, with_budget
from polysched.scop.c_frontend.build import build_scop
from polysched.scop.c_frontend.control import walk_all
from polysched.scop.c_frontend.declarations.bindings import (
    Bindings,
    addressed_names,
    bind,
    describe,
    function_parameters,
    scope_at,
)
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, Pointer, Scalar
from polysched.scop.c_frontend.declarations.changes import changed_before
from polysched.scop.c_frontend.declarations.effects import DeclaredEffects, declared_effects
from polysched.scop.c_frontend.declarations.heads import names_itself, signature_of
from polysched.scop.c_frontend.declarations.liveness import Liveness
from polysched.scop.c_frontend.declarations.outliving import at_start, made_assignable, outliving, without_declarations
from polysched.scop.c_frontend.declarations.private_copies import check_private_copies
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope, Symbol
from polysched.scop.c_frontend.declarations.written_loops import loop_text
from polysched.scop.c_frontend.detection.autodetect import detect
from polysched.scop.c_frontend.detection.bare_bodies import block_bare_bodies
from polysched.scop.c_frontend.detection.certain_refusals import certain_refusal
from polysched.scop.c_frontend.detection.name_reads import FileReads, file_reads
from polysched.scop.c_frontend.expressions import calls_the_unknown, may_have_effects
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.inferred_effects import InferredEffects
from polysched.scop.c_frontend.parse import (
    LOOPS,
    SyntaxRegion,
    copied,
    everything,
    find_syntax_regions,
    keep_bodies,
    parse,
    place,
)
from polysched.scop.c_frontend.remarks import REMARKS
from polysched.scop.c_frontend.rewrites.addresses import without_idle_addresses
from polysched.scop.c_frontend.rewrites.amounts import StepTypes
from polysched.scop.c_frontend.rewrites.countdown import plain_countdowns
from polysched.scop.c_frontend.rewrites.counted_while import counted_loops
from polysched.scop.c_frontend.rewrites.early_calls import EarlyCalls
from polysched.scop.c_frontend.rewrites.effect_calls import EffectCalls, heads_of
from polysched.scop.c_frontend.rewrites.increments import Increments
from polysched.scop.c_frontend.rewrites.induction import Inductions
from polysched.scop.c_frontend.rewrites.inline import Inliner, is_large
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes
from polysched.scop.c_frontend.rewrites.memory_calls import COPIES, MemoryCalls
from polysched.scop.c_frontend.rewrites.parameter_steps import ParameterSteps, changed_names, declarations
from polysched.scop.c_frontend.rewrites.pointers import LocalPointers
from polysched.scop.c_frontend.rewrites.starts import Starts
from polysched.scop.c_frontend.rewrites.structures import Structures
from polysched.scop.c_frontend.rewrites.switches import without_switches
from polysched.scop.c_frontend.rewrites.volatile_objects import VolatileObjects, leads_to_volatile, volatile_objects
from polysched.scop.c_frontend.sharing import check_pointers, no_alias
from polysched.scop.c_frontend.some_elements import assume_elements, tested_elements
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.entry_values import at_region_start
from polysched.scop.c_frontend.subscripts.members import check_amounts
from polysched.scop.c_frontend.text.directives import check_directives
from polysched.scop.c_frontend.text.preprocess import SourceFile, preprocess, read_source
from polysched.scop.c_frontend.text.regions import HINT, active_pragmas, find_regions
from polysched.scop.limits import LIMITS
from polysched.scop.scop import AccessKind, NameReads, Scop, SourceRegion
from polysched.target import find_compiler

_LOG = logging.getLogger(__name__)
READING_OPERATIONS = LIMITS.reading_isl_operations
READING_SECONDS = LIMITS.reading_seconds

OnRefusal: TypeAlias = Callable[[SourceLocation, PolyschedError], None]
"""Is told where a marked region stands, and why it cannot be represented."""

Infer: TypeAlias = Callable[[str], DeclaredEffects | None]
"""The effects of a function of the file; None where they are not known."""

_PRAGMA = re.compile(r"#\s*pragma\s+polysched\b")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def all_from_c_file(path: str | Path, *, include_dirs: Sequence[str | Path] = (), defines: Sequence[str] = (),
                    cc: str | None = None, pure: Sequence[str] = (), autodetect: bool = False,
                    judge: Callable[[Scop], PolyschedError | None] = lambda _: None,
                    refused: OnRefusal | None = None,
                    left: Callable[[], float] = lambda: READING_SECONDS) -> tuple[Scop, ...]:
    """Every region of a C file, in textual order.

    Parameters
    ----------
    path : the file.
    include_dirs, defines : what the compiler gets as `-I` and `-D` (`NAME` or `NAME=VALUE`).
    cc : the compiler that preprocesses; found by itself when None.
    pure : functions that only compute with their arguments.
    autodetect : take the largest regions that can be represented, whether marked by pragmas or not.
    judge : why there is no use for a region that was found, None where there is; smaller ones are found instead.
    refused : told of every marked region that cannot be represented, which is left out then; without it, the first is
        raised.
    left : the processor seconds that reading a region may take from now on, at most `READING_SECONDS`.

    Raises
    ------
    SourceSyntaxError : the file does not preprocess or parse; carries the compiler's message.
    UnsupportedScopError : there is no region, or one cannot be represented soundly.
    """
    source = read_source(path, include_dirs=include_dirs, defines=defines, cc=cc)
    return _all(source, frozenset(pure), autodetect=autodetect, judge=judge, refused=refused, left=left)


def from_c_file(path: str | Path, *, include_dirs: Sequence[str | Path] = (), defines: Sequence[str] = (),
                function: str | None = None, cc: str | None = None, pure: Sequence[str] = (),
                autodetect: bool = False) -> Scop:
    """The only region of a C file, or the only one in `function`; else as `all_from_c_file`.

    Raises
    ------
    UsageError : there are several.
    """
    scops = all_from_c_file(path, include_dirs=include_dirs, defines=defines, cc=cc, pure=pure, autodetect=autodetect)
    return _only(scops, str(path), function)


def all_from_c_text(text: str, *, path: str = "<text>", include_dirs: Sequence[str | Path] = (),
                    defines: Sequence[str] = (), cc: str | None = None, pure: Sequence[str] = (),
                    autodetect: bool = False) -> tuple[Scop, ...]:
    """As `all_from_c_file`, from a string; `path` names it in messages and finds its own includes."""
    source = SourceFile(path=path, text=text, include_dirs=tuple(str(d) for d in include_dirs),
                        defines=tuple(defines), compiler=find_compiler(cc), on_disk=False)
    return _all(source, frozenset(pure), autodetect=autodetect)


def from_c_text(text: str, *, path: str = "<text>", include_dirs: Sequence[str | Path] = (),
                defines: Sequence[str] = (), function: str | None = None, cc: str | None = None,
                pure: Sequence[str] = (), autodetect: bool = False) -> Scop:
    """As `from_c_file`, from a string."""
    scops = all_from_c_text(text, path=path, include_dirs=include_dirs, defines=defines, cc=cc, pure=pure,
                            autodetect=autodetect)
    return _only(scops, path, function)


def _only(scops: tuple[Scop, ...], path: str, function: str | None) -> Scop:
    chosen = [s for s in scops if function is None or s.name == function]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(s.name for s in scops)
    if not chosen:
        raise UsageError(f"no region in a function named `{function}`", where=path, witness=f"regions in: {names}")
    raise UsageError(f"the file has {len(chosen)} regions where one was asked for", where=path,
                     witness=f"regions in: {names}", hint="name the function, or use all_from_c_file")


def _all(source: SourceFile, pure: frozenset[str], *, autodetect: bool,
         judge: Callable[[Scop], PolyschedError | None] = lambda _: None,
         refused: OnRefusal | None = None, left: Callable[[], float] = lambda: READING_SECONDS) -> tuple[Scop, ...]:
    """Every region, with its notes logged."""
    scops = _regions(source, pure, judge, autodetect=autodetect, refused=refused, left=left)
    for note in dict.fromkeys(note for scop in scops for note in scop.notes):
        _LOG.warning("%s", note)
    return scops


def _regions(source: SourceFile, pure: frozenset[str], judge: Callable[[Scop], PolyschedError | None], *,
             autodetect: bool, left: Callable[[], float], refused: OnRefusal | None = None) -> tuple[Scop, ...]:
    preprocessed = preprocess(source)
    regions = () if autodetect else find_regions(source.path, source.text, preprocessed)
    if not regions and not autodetect:
        raise _no_region(source, preprocessed)
    tree = parse(source, preprocessed)
    if autodetect:
        block_bare_bodies(tree)
    marked, _, _ = _reading(source, tree, preprocessed, pure, left)
    if autodetect:
        found = detect(source, preprocessed, tree, partial(marked, whole_loops=False), judge)
        for line in found.left if found.scops or len(found.left) > 1 else ():   # else the refusal says it
            _LOG.warning("%s", line)
        if not found.scops:
            raise _nothing_detected(source, found.refusal)
        return found.scops
    located = find_syntax_regions(source, tree, regions)
    return (tuple(marked(region) for region in located) if refused is None
            else _accepted(source, located, marked, refused))


def _reading(source: SourceFile, tree: c_ast.FileAST, preprocessed: str, pure: frozenset[str],
             left: Callable[[], float]) -> tuple[Callable[..., Scop], Mapping[str, DeclaredEffects], Infer]:
    """What makes the Scop of a region of a file, the effects that the file declares, and what finds others."""
    keep_bodies(tree)
    effects: Mapping[str, DeclaredEffects] = {}
    if _PRAGMA.search(preprocessed):
        pure, effects = pure | _declared_pure(tree), declared_effects(source.path, tree)
    identifiers = frozenset(_IDENTIFIER.findall(preprocessed))
    reads = file_reads(source.path, tree)
    read = partial(_extract, source, tree, pure=pure, effects=effects, identifiers=identifiers, reads=reads, left=left,
                   too_large=set(), volatile=volatile_objects(tree, _functions(tree)))
    inferred = InferredEffects(tree, lambda region: read(region, infer=infer))

    def infer(name: str) -> DeclaredEffects | None:
        return None if name in pure else inferred.of(name)

    return partial(read, infer=infer), effects, infer


def effects_of(source: SourceFile, tree: c_ast.FileAST, preprocessed: str, called: Sequence[str], *,
               pure: Sequence[str] = ()) -> tuple[tuple[DeclaredEffects, ...], tuple[DeclaredEffects, ...]]:
    """The effects that a file declares, and those of functions that regions call which their bodies say.

    Parameters
    ----------
    tree, preprocessed : of the file.
    pure : functions that only compute with their arguments.
    """
    _, declared, infer = _reading(source, tree, preprocessed, frozenset(pure), lambda: READING_SECONDS)
    found = (infer(name) for name in dict.fromkeys(called) if name not in declared)
    return tuple(declared.values()), tuple(effects for effects in found if effects is not None)


def _accepted(source: SourceFile, located: Sequence[SyntaxRegion], read: Callable[[SyntaxRegion], Scop],
              refused: OnRefusal) -> tuple[Scop, ...]:
    """The regions that can be represented."""
    accepted = []
    for region in located:
        try:
            accepted.append(read(region))
        except UsageError:
            raise
        except PolyschedError as error:
            refused(SourceLocation(source.path, region.text_region.first_line), error)
    return tuple(accepted)


def _nothing_detected(source: SourceFile, refusal: PolyschedError | None) -> PolyschedError:
    if refusal is None:
        return UnsupportedScopError("the file has no loop whose text can be found",
                                    where=SourceLocation(source.path), hint=HINT)
    if not isinstance(refusal, UnsupportedScopError):
        return refusal
    return UnsupportedScopError(
        f"nothing in the file can be represented; the first refusal of an innermost loop: {refusal.problem}",
        where=refusal.where, witness=refusal.witness, hint=refusal.hint)


def _no_region(source: SourceFile, preprocessed: str) -> UnsupportedScopError:
    elsewhere = [file for file, word, _ in active_pragmas(preprocessed) if word == "scop" and file != source.path]
    if elsewhere:
        return UnsupportedScopError("the file has no scop region of its own", where=source.path,
                                    witness=f"a region stands in the included file {elsewhere[0]}",
                                    hint="give that file instead")
    return UnsupportedScopError("the file has no scop region", where=SourceLocation(source.path),
                                hint=f"{HINT}, or let --autodetect find the loops")


def _declared_pure(tree: c_ast.FileAST) -> frozenset[str]:
    """The functions that `#pragma polysched pure f g` names."""
    names: set[str] = set()
    for node in everything(tree):
        if isinstance(node, c_ast.Pragma):
            words = (node.string or "").replace(",", " ").replace("(", " ").replace(")", " ").split()
            if words[:2] == ["polysched", "pure"]:
                names.update(words[2:])
    return frozenset(names)


def _functions(tree: c_ast.FileAST) -> dict[str, c_ast.FuncDef]:
    """The definitions of a file, by name."""
    return {f.decl.name: f for f in tree.ext if isinstance(f, c_ast.FuncDef)}


def _named(reads: FileReads, region: SyntaxRegion, scope: Scope) -> tuple[NameReads, ...]:
    """How often the region reads each variable that is visible in it, volatile ones left out."""
    named = reads.of_region(region, {name for level in scope.levels[1:] for name in level.symbols})
    return tuple(n for n in named if (symbol := scope.lookup(n.name)) is None or not leads_to_volatile(symbol.ctype))


def _extract(source: SourceFile, tree: c_ast.FileAST, region: SyntaxRegion, *, pure: frozenset[str],
             effects: Mapping[str, DeclaredEffects], identifiers: frozenset[str], reads: FileReads,
             left: Callable[[], float], infer: Infer, too_large: set[str],
             volatile: VolatileObjects, whole_loops: bool = True) -> Scop:
    functions = _functions(tree)
    _check_in_time(source.path, region, left())
    if not whole_loops:
        _check_found(source.path, region, {*functions, *pure, *effects}, lambda name: _is_unknown(
            name, functions, {*pure, *effects}, infer))
    check_directives(source.path, source.text, region)
    scope = scope_at(tree, region)
    volatile.check(source.path, region.items, scope, {*pure, *effects})
    check_private_copies(source.path, scope, region)
    named = _named(reads, region, scope)
    written, region = region, replace(region, items=tuple(copied(list(region.items))))
    kept = outliving(source.path, scope, region)
    plain = without_declarations(region, kept) if kept else ""
    arrays = {t.name: t.type for t in tree.ext if isinstance(t, c_ast.Typedef) and isinstance(t.type, c_ast.ArrayDecl)}
    calls = EffectCalls(source.path, effects, heads_of(tree), infer)
    region, inductions = _rewritten(written, region.items, scope, functions, pure, identifiers, arrays, calls,
                                    too_large)
    for declaration in kept:
        made_assignable(declaration)
    bindings = bind(source.path, scope, region, outliving=kept)
    x = Extraction(path=source.path, bindings=bindings, identifiers=identifiers, pure=pure, functions=functions,
                   effects=frozenset(effects),
                   whole_loops=whole_loops, region=region,
                   jump_targets=frozenset(n.name for n in everything(region.function.body, c_ast.Goto)))
    x.saved += [at_region_start(name, symbol) for name, symbol in inductions.starts.items()]
    seconds = min(READING_SECONDS, left())
    scop = with_budget(READING_OPERATIONS, partial(_read, source, x, scope, kept, plain, named, inductions),
                       seconds=seconds)
    if scop is None:
        raise _takes_too_long(source.path, x.at or region.items[0], seconds)
    return scop


def _check_in_time(path: str, region: SyntaxRegion, left: float) -> None:
    """Refuse what there is no time for.

    Raises
    ------
    BudgetExceededError : there is no time left.
    """
    if left <= 0:
        raise _takes_too_long(path, region.items[0], 0.0)


def _check_found(path: str, region: SyntaxRegion, known: Container[str], is_unknown: Callable[[str], bool]) -> None:
    """Refuse what a glance tells of a run that was found: a chain of a hundred choices by `strcmp` is tried at each.

    Parameters
    ----------
    known : functions that may be called.
    is_unknown : whether nothing is known of a function that is called for its effects.

    Raises
    ------
    UnsupportedScopError : the first condition of the run calls a function that nothing is known of, or the run can be
        no region for another reason.
    """
    named = {n.name for part in region.function for n in everything(part, c_ast.Decl)}
    for item in region.items:
        while isinstance(item, c_ast.If):
            call = calls_the_unknown(item.cond, known)
            if call is not None and call.name.name not in named:
                raise may_have_effects(path, call, call.name.name)
            item = item.iffalse
    refusal = certain_refusal(path, region.items, lambda name: name not in named and is_unknown(name))
    if refusal is not None:
        raise refusal


def _is_unknown(name: str, functions: Mapping[str, c_ast.FuncDef], known: Container[str], infer: Infer) -> bool:
    """Whether a call of a function, as a statement, can neither be inlined nor is known for what it reaches."""
    if name in known or name in REMARKS or name in COPIES or name.startswith("__"):
        return False
    function = functions.get(name)
    return function is None or (is_large(function) and infer(name) is None)


def _takes_too_long(path: str, at: c_ast.Node, seconds: float) -> BudgetExceededError:
    """The refusal of a region at what was being read when the budget ended."""
    seconds = round(seconds, 1)
    return BudgetExceededError(
        f"reading the region takes more than {in_words(READING_OPERATIONS, seconds)}, which were spent here" if seconds
        else "the time that one file may take was spent before this region",
        where=place(path, at), witness=loop_text(at) if isinstance(at, LOOPS) else describe(at),
        hint="make the region smaller, or its conditions, bounds and subscripts simpler: fewer of %, /, min, max, || "
             "and of cases inside one another")


def _read(source: SourceFile, x: Extraction, scope: Scope, kept: tuple[c_ast.Decl, ...], plain: str,
          named: tuple[NameReads, ...], inductions: Inductions) -> Scop:
    """The Scop of a region whose names are known."""
    bindings, region = x.bindings, x.region
    assert region is not None
    _settle_parameters(x, region, bindings, scope)
    x.materialised = frozenset(
        s for s in bindings.iterators
        if s in bindings.read_outside or s in bindings.body_written or inductions.liveness.live_after(s))
    walked = walk_all(x, region.items, polyhedra.universe()).tree
    if walked is None:
        x.notes.append(f"{source.path}:{region.text_region.first_line}: the region has no statement that ever runs")
    check_amounts(x, inductions.memory)
    check_pointers(x, region)
    order = {p.name: at for at, p in enumerate(function_parameters(region.function))}
    x.parameters = dict(sorted(x.parameters.items(), key=lambda p: order.get(p[1].spelling, len(order))))
    text = region.text_region
    where = SourceRegion(path=source.path, text=source.text, start=text.start, end=text.end,
                         function=region.function.decl.name, indent=text.indent,
                         preprocessor=source.arguments_elsewhere, signature=signature_of(region.function, scope),
                         declarations=tuple(map(at_start, kept)), saved=tuple(x.saved),
                         without_declarations=plain, reads=named, changed=changed_before(region, bindings),
                         keeps_state=_has_static(region.function),
                         names_itself=names_itself(region.function),
                         stepped=tuple(inductions.stepped), bare=text.bare)
    assumptions = (*no_alias(x), *tested_elements(x, where))
    return build_scop(x, walked, name=region.function.decl.name, source=where, assumptions=assumptions,
                      dead_after=_dead_after(x, inductions.liveness))


def _has_static(function: c_ast.FuncDef) -> bool:
    """Whether variables of a function live on behind its calls."""
    return any("static" in (n.storage or ()) for n in everything(function.body, c_ast.Decl))


def _dead_after(x: Extraction, liveness: Liveness) -> frozenset[str]:
    """The arrays and scalars whose values nothing reads behind the region."""
    read = {a.array for s in x.open_statements for a in s.accesses if a.kind is AccessKind.READ}
    return frozenset(array.name for (symbol, _), array in x.arrays.items()
                     if isinstance(symbol, Symbol) and (
                         liveness.dead_after(symbol) if isinstance(symbol.ctype, Scalar) else
                         array.name in read and liveness.object_dead_after(symbol)))


def _rewritten(written: SyntaxRegion, items: Sequence[c_ast.Node], scope: Scope,
               functions: dict[str, c_ast.FuncDef], pure: frozenset[str],
               identifiers: frozenset[str],
               arrays: Mapping[str, c_ast.ArrayDecl], calls: EffectCalls,
               too_large: set[str]) -> tuple[SyntaxRegion, Inductions]:
    """The region in simpler constructs, with the calls of small functions of the file replaced by what they compute.

    Parameters
    ----------
    written : the region as it stands in the function's tree.
    items : a copy of its statements, which is changed.
    arrays : the types of the file that stand for arrays, by name.
    calls : rewrites the calls of functions whose effects are declared.
    too_large : functions of the file that grew too large when they were inlined, in any region so far.
    """
    visible = {name for level in scope.levels[1:] for name in level.symbols}
    declared = {n.name: n.type for item in items for n in everything(item) if isinstance(n, c_ast.Decl)}
    walking = {name for name, kind in declared.items() if isinstance(kind, c_ast.PtrDecl)}
    pointers = walking | {name for level in scope.levels for name, symbol in level.symbols.items()
                          if isinstance(symbol.ctype, ArrayOf | Pointer)}
    pointers |= {name for name, kind in declared.items() if isinstance(kind, c_ast.ArrayDecl)}
    items = without_switches(items)
    for item in items:
        plain_countdowns(item)
    inliner = Inliner(functions, pure | calls.effects.keys(), set(identifiers), frozenset(visible | declared.keys()),
                      arrays, pointers, walking, too_large=too_large)
    made = tuple(map(without_idle_addresses, EarlyCalls(inliner).statements(inliner.statements(items))))
    made = replace(calls, hidden=frozenset(visible | declared.keys())).statements(made)
    types = LvalueTypes(scope)
    types.declare(made)
    made = MemoryCalls(types, functions, inliner.fresh).statements(Structures(types, inliner.fresh).statements(made))
    plain = _plain_names(written, scope, made)
    starts = Starts(scope, plain, written.before, inliner.fresh)
    split = Increments(plain, types.steps_back).statements(made)
    made = starts.statements(counted_loops(split, written.before))
    inductions = Inductions(scope, StepTypes(LvalueTypes(scope), plain), Liveness(written), inliner.fresh,
                            starts=starts.saved)
    made = inductions.statements(made)
    made = LocalPointers(written, scope, inliner.fresh).statements(made)
    steps = ParameterSteps(scope, changed_names(made), inliner.fresh, declarations(made))
    return replace(written, items=steps.statements(made, written.before)), inductions


def _plain_names(region: SyntaxRegion, scope: Scope, items: Sequence[c_ast.Node]) -> frozenset[str]:
    """The variables of the function and of the region whose address nobody takes."""
    addressed = {name for part in (region.function.body, *items) for name in addressed_names(part)}
    own = {n.name for item in items for n in everything(item) if isinstance(n, c_ast.Decl) and n.name}
    found = {name for level in scope.levels for name, symbol in level.symbols.items()
             if symbol.origin in (Origin.LOCAL, Origin.PARAMETER) and scope.lookup(name) is symbol}
    return frozenset((found | own) - addressed)


def _settle_parameters(x: Extraction, region: SyntaxRegion, bindings: Bindings, scope: Scope) -> None:
    """Enter the parameters before anything else: those of the function in their order, then by name."""
    order = {p.name: at for at, p in enumerate(function_parameters(region.function))}
    for symbol in sorted(bindings.affine, key=lambda s: (order.get(s.name, len(order)), s.name)):
        if not symbol.is_enumerator:   # a constant, wherever it is declared
            x.parameter(symbol)
    named = set(bindings.meaning.values())
    assume_elements(x, [s for name in order if (s := bindings.visible.get(name)) is not None and s in named])
