"""What a record is about: a program whatever its names, its C whatever its names, a machine, threads, a compiler."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from polysched.measure.timing.machine import describe_machine
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.scop.body import IteratorRef, Load, ParameterRef
from polysched.scop.scop import AccessKind, Array, Scop, Statement
from polysched.target import Compiler

CLIENT = " client"
"""The first key of what stands for the numerics of a client's records."""
_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//[^\n]*|[A-Za-z_]\w*|"
                    r"\d[\w.]*(?:(?<=[eEpP])[+-]\w+)?|\s+|.", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]")
_KEPT = re.compile(
    r"(?:auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|"
    r"register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|"
    r"_\w+|omp|pragma|scop|endscop|parallel|simd|private|reduction|schedule|GCC|ivdep|define|undef|ifdef|endif)\Z")


@dataclass(frozen=True)
class CanonicalScop:
    """A program under names that do not depend on its source.

    Parameters
    ----------
    text : JSON; the same for programs that differ in names and layout alone.
    names : the program's names by canonical name: of arrays, parameters, statements, and iterators by their first use.
    """

    text: str
    names: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        return digest_of(self.text)

    def to_canonical(self) -> dict[str, str]:
        """The canonical names by the program's."""
        return {own: canonical for canonical, own in self.names.items()}


def digest_of(text: str) -> str:
    """The hash by which records name a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_scop(scop: Scop) -> CanonicalScop:
    """A program under names by first appearance in its statements."""
    reached = (a.array for s in scop.statements for a in s.accesses)
    arrays = _numbered("a", chain(reached, (a.name for a in scop.arrays)))
    parameters = _numbered("p", (p.name for p in scop.parameters))
    statements = _numbered("S", (s.name for s in scop.statements))
    iterators = _numbered("i", (i for s in scop.statements for i in s.iterators))
    renaming = _Renaming(arrays=arrays, parameters=parameters, statements=statements)
    value = {
        "parameters": [p.dtype.name for p in scop.parameters], "context": renaming.text(scop.context),
        "arrays": [renaming.array(scop.array(name)) for name in arrays],
        "statements": [renaming.statement(s) for s in scop.statements], "schedule": renaming.text(scop.schedule)}
    every: dict[str, str] = {}
    for table in (iterators, statements, parameters, arrays):
        every |= {canonical: name for name, canonical in table.items()}
    return CanonicalScop(json.dumps(value, separators=(",", ":")), every)


def _numbered(letter: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{letter}{k}" for k, name in enumerate(dict.fromkeys(names))}


@dataclass(frozen=True)
class _Renaming:
    arrays: Mapping[str, str]
    parameters: Mapping[str, str]
    statements: Mapping[str, str]

    def text(self, value: Any) -> str:
        """isl's text with canonical names; iterators by their place."""
        places: dict[str, str] = {}

        def renamed(word: re.Match[str]) -> str:
            name = word.group()
            for table in (self.statements, self.arrays, self.parameters):
                if name in table:
                    return table[name]
            if name in _ISL_WORDS:
                return name
            return places.setdefault(name, f"x{len(places)}")
        return re.sub(r"[A-Za-z_][\w.]*", renamed, str(value))

    def array(self, array: Array) -> list[Any]:
        """Type, extents and storage."""
        return [array.dtype.name, [None if e is None else self.text(e) for e in array.extents], array.storage.value,
                array.constant, array.restrict, array.dead_after]

    def statement(self, statement: Statement) -> list[Any]:
        order = {a.reference: k for k, a in enumerate(statement.accesses)}
        relations = [[self.arrays[a.array], _KINDS[a.kind], self.text(a.relation), a.exact]
                     for a in statement.accesses]
        iterators = {name: f"x{k}" for k, name in enumerate(statement.iterators)}
        return [self.text(statement.domain), relations,
                [self.body(item, order, iterators) for item in statement.body]]

    def body(self, value: Any, order: Mapping[str, int], iterators: Mapping[str, str]) -> Any:
        """A body as lists, accesses by their place in the statement."""
        match value:
            case Load():
                return ["load", order[value.reference]]
            case IteratorRef():
                return ["iterator", iterators.get(value.name, value.name), value.dtype.name]
            case ParameterRef():
                return ["parameter", self.parameters.get(value.name, value.name)]
            case str():
                return order.get(value, value)
            case tuple() | list():
                return [self.body(v, order, iterators) for v in value]
        if is_dataclass(value) and not isinstance(value, type):
            if hasattr(value, "bits") and hasattr(value, "name"):
                return value.name
            return [type(value).__name__, *(self.body(getattr(value, name), order, iterators)
                                            for name in value.__dataclass_fields__)]
        return value if value is None or isinstance(value, int | float | bool) else str(value)


_KINDS = {AccessKind.READ: "r", AccessKind.MAY_WRITE: "m", AccessKind.MUST_WRITE: "w"}
_ISL_WORDS = frozenset({
    "and", "or", "not", "exists", "mod", "floor", "ceil", "min", "max", "domain", "schedule", "child", "filter",
    "sequence", "set", "mark", "permutable", "coincident", "options", "context", "extension", "guard", "expansion",
    "contraction", "true", "false", "implies", "floord", "infty", "NaN"})


def code_identity(text: str, original: str = "", flags: Iterable[str] = ()) -> str:
    """The hash of C that depends on no name and no layout: identifiers count by their first appearance.

    Parameters
    ----------
    original : the region as it was written; where the C repeats it, as the other branch of a test, that is one word.
    flags : of the compiler, which count as they are.
    """
    seen: dict[str, str] = {}
    text = _MACRO.sub(_with_places, text)
    words = _without(_words(original), _words(text)) if original else _words(text)
    return digest_of(" ".join([*flags, *(
        word if _KEPT.match(word) or not _NAME.match(word) else seen.setdefault(word, f"n{len(seen)}")
        for word in words)]))


_MACRO = re.compile(r"^([ \t]*#[ \t]*define[ \t]+\w+\()([^)\n]*)(\)(?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
"""The definition of a macro with parameters, and the lines that go on."""


def _with_places(macro: re.Match[str]) -> str:
    """A macro whose parameters have names that no program has: its own may be those of arrays, too."""
    places = {name.strip(): f"_parameter{k}" for k, name in enumerate(macro[2].split(","))}
    body = _TOKEN.sub(lambda word: places.get(word.group(), word.group()), macro[3])
    return f"{macro[1]}{', '.join(places.values())}{body}"


def _words(text: str) -> list[str]:
    """The tokens of C, without comments and space."""
    return [t for t in _TOKEN.findall(text) if not t.isspace() and not t.startswith(("/*", "//"))]


def _without(part: list[str], words: list[str]) -> list[str]:
    """The words with every occurrence of a part as one word."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        if part and words[at:at + len(part)] == part:
            kept.append("_original")
            at += len(part)
        else:
            kept.append(words[at])
            at += 1
    return kept


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where and how something runs.

    Parameters
    ----------
    machine : processor, extensions, cores and caches.
    threads : OMP_NUM_THREADS.
    compiler : kind and version, and the flags that all candidates have.
    numerics : what the code may round otherwise.
    """

    machine: str
    threads: int
    compiler: str
    numerics: str

    @property
    def text(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    def of_client(self, client: str, **what: object) -> Place:
        """The place of records that are not about a region's whole code, but about what a client of the search races.

        No lookup of a region finds them.
        """
        return replace(self, numerics=json.dumps({CLIENT: client, "numerics": self.numerics, **what}, sort_keys=True))

    @property
    def is_of_client(self) -> bool:
        """Whether records of this place are a client's."""
        return self.numerics.startswith(f'{{"{CLIENT}":')

    @property
    def client(self) -> str:
        """Whose records these are, in words; empty for those of regions."""
        try:
            return str(json.loads(self.numerics)[CLIENT]) if self.is_of_client else ""
        except (ValueError, RecursionError):   # a database may say anything
            return ""


def place_of(options: PipelineOptions, compiler: Compiler, *, threads: int, flags: tuple[str, ...]) -> Place:
    """This machine with a compiler, its flags, threads, and the numerics of the options."""
    machine = describe_machine()
    allowed = asdict(options.tensorize.numerics) if options.tensorize is not None else {}
    return Place(
        machine=json.dumps([machine.cpu, list(machine.isa), machine.cores, dict(machine.caches)]), threads=threads,
        compiler=f"{compiler.kind} {compiler.version} {' '.join(flags)}",
        numerics=json.dumps({"reassociate": options.reassociate, "math": options.math,
                             **({"wide sums": True} if options.wide_sums else {}),
                             **{f"instruction may {name}": value for name, value in allowed.items()}}, sort_keys=True))


@dataclass(frozen=True, kw_only=True)
class Key:
    """What a record is about.

    Parameters
    ----------
    scop : digest of the canonical program.
    sizes : values by canonical parameter, as sorted pairs.
    """

    scop: str
    sizes: tuple[tuple[str, int], ...]
    place: Place

    @property
    def digest(self) -> str:
        return digest_of(json.dumps([self.scop, self.sizes, self.place.text]))


def key_of(canonical: CanonicalScop, sizes: Mapping[str, int], place: Place) -> Key:
    """The key of a program at sizes by its own parameters' names."""
    names = canonical.to_canonical()
    return Key(scop=canonical.digest, place=place, sizes=tuple(sorted(
        (names[name], value) for name, value in sizes.items() if name in names)))
