"""Whether functions reach through their pointers what their file declares, or their bodies say, by calling them.

Each is called with small numbers on memory with known contents, three times:

- what is not said to be written must stay as it was;
- a second call with the same memory must do the same: a function that keeps a state has effects beside its pointers;
- a third, where all that is not said to be read has other contents, must write the same or nothing.

That is a test and no proof.  What a function does to memory that no pointer of its own leads to is not seen.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pycparser import c_ast

from polysched.measure.processes.execution import run_program
from polysched.measure.processes.workspace import workspace
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.effects import DeclaredEffects, Section
from polysched.scop.c_frontend.frontend import effects_of
from polysched.scop.c_frontend.parse import c_text, parse
from polysched.scop.c_frontend.rewrites.effect_calls import heads_of, parameters_of
from polysched.scop.c_frontend.text.preprocess import SourceFile, preprocess
from polysched.target import find_compiler

_PRAGMA = re.compile(r"#\s*pragma\s+polysched\s+effects\b")
_LOG = logging.getLogger(__name__)
CALLS = 64
SECONDS = 20.0
_EACH = "for (int polysched_k = 0; polysched_k < polysched_count; polysched_k++)"
_PROLOGUE = """
#include <stdio.h>
#include <string.h>
enum { polysched_count = 8192, polysched_base = 2048 };
static unsigned polysched_seed = 1;
static int polysched_number(int most) {
  polysched_seed = polysched_seed * 1664525u + 1013904223u;
  return (int)((polysched_seed >> 8) % (unsigned)most);
}
"""


@dataclass(frozen=True)
class CheckedEffects:
    """What calling a function says of its effects.

    Parameters
    ----------
    function : its name.
    problem : what it does that is not declared, empty where nothing was seen.
    uncalled : why it was not called, empty where it was.
    calls : how often it was called.
    declared : the file declares the effects; else its body says them.
    """

    function: str
    problem: str = ""
    uncalled: str = ""
    calls: int = 0
    declared: bool = True

    def __str__(self) -> str:
        said = "declared effects" if self.declared else "effects in the body"
        if self.uncalled:
            return f"the {said} of {self.function} are taken for granted: {self.uncalled}"
        known = "declared" if self.declared else "read there"
        return f"the {said} of {self.function}: " + (self.problem or f"as {known} in {self.calls} calls")


def check_effects(path: str, text: str, *, flags: Sequence[str], include_dirs: Sequence[str | Path] = (),
                  defines: Sequence[str] = (), cc: str | None = None, called: Sequence[str] = (),
                  pure: Sequence[str] = ()) -> tuple[CheckedEffects, ...]:
    """Call every function whose effects a file declares, and those that its regions call and whose bodies say them.

    Parameters
    ----------
    path, text : of the file.
    called : the functions that regions call.
    pure : functions that only compute with their arguments.
    flags : of the compiler, with libraries that have functions which the file does not define.
    """
    source = SourceFile(path=path, text=text, on_disk=False, include_dirs=tuple(map(str, include_dirs)),
                        defines=tuple(defines), compiler=find_compiler(cc))
    preprocessed = preprocess(source)
    if not called and not _PRAGMA.search(preprocessed):
        return ()
    tree = parse(source, preprocessed)
    declared, found = effects_of(source, tree, preprocessed, called, pure=pure)
    heads = heads_of(tree)
    return tuple(replace(_checked(source, effects, heads.get(effects.function), flags), declared=effects in declared)
                 for effects in (*declared, *found))


def _checked(source: SourceFile, effects: DeclaredEffects, head: c_ast.FuncDecl | None,
             flags: Sequence[str]) -> CheckedEffects:
    if any(None in section.firsts for section in (*effects.reads, *effects.writes)):
        return CheckedEffects(effects.function, uncalled="which elements it reaches is a matter of data")
    text = None if head is None else driver(effects, head)
    if text is None:
        return CheckedEffects(effects.function, uncalled="its parameters are not numbers and arrays of numbers")
    with workspace() as folder:
        file, program = folder / "effects.c", folder / "effects"
        file.write_text(f"#define main polysched_main_of_the_file\n#line 1 \"{source.path}\"\n{source.text}\n"
                        f"#undef main\n{text}")
        linked = [f for f in flags if f.startswith(("-l", "-L", "-Wl,"))]
        built = source.compiler.run([*(f for f in flags if f not in linked), "-w", *source.arguments_elsewhere,
                                     "-iquote", str(Path(source.path).resolve().parent),
                                     "-o", str(program), str(file), *source.compiler.openmp_compile,
                                     *source.compiler.openmp_link, *linked, "-lm"], folder=folder)
        if built.returncode:
            _LOG.info("%s", built.stderr)
            return CheckedEffects(effects.function, uncalled="no library that is linked has it, or it does not compile")
        ran = run_program([program], seconds=SECONDS)
    _, told, said = ran.output.strip().rpartition("polysched: ")
    if ran.status != 0 or not told:   # it may end the program
        return CheckedEffects(effects.function, uncalled="it does not end well with small numbers for its parameters")
    verdict, _, rest = said.partition(" ")
    if verdict == "wrong":
        return CheckedEffects(effects.function, problem=rest)
    return CheckedEffects(effects.function, calls=int(rest)) if int(rest) else CheckedEffects(
        effects.function, uncalled="its sections are not small for small numbers")


@dataclass(frozen=True)
class _Pointer:
    """A parameter that leads to elements; rows further in are as long as `rows` says, in C."""

    name: str
    element: str
    rows: tuple[str, ...]

    @property
    def is_integer(self) -> bool:
        return not any(word in self.element for word in ("float", "double", "_Float16", "__bf16"))


def driver(effects: DeclaredEffects, head: c_ast.FuncDecl) -> str | None:
    """The C that checks the effects of a function; None where its parameters cannot be made up."""
    parameters = parameters_of(head)
    if len(parameters) != len(effects.parameters):
        return None
    names = {p.name: name for p, name in zip(parameters, effects.parameters, strict=True) if p.name}
    numbers: list[tuple[str, str]] = []
    pointers: list[_Pointer] = []
    for parameter, name in zip(parameters, effects.parameters, strict=True):
        if isinstance(parameter.type, c_ast.TypeDecl):
            numbers.append((_type(parameter.type), name))
        elif (pointer := _pointer(parameter, name, names)) is not None:
            pointers.append(pointer)
        else:
            return None
    if any("struct" in kind or "union" in kind for kind, _ in numbers):
        return None
    return _text(effects, numbers, pointers, returns=_returns(head))


def _returns(head: c_ast.FuncDecl) -> str:
    kind = head.type
    if not isinstance(kind, c_ast.TypeDecl) or not isinstance(kind.type, c_ast.IdentifierType):
        return ""
    return "" if kind.type.names == ["void"] else _type(kind)


def _type(declared: c_ast.TypeDecl) -> str:
    """A type without its qualifiers."""
    made = c_ast.TypeDecl(None, [], None, declared.type, declared.coord)
    return c_text(c_ast.Typename(None, [], None, made))


def _pointer(parameter: c_ast.Node, name: str, names: Mapping[str, str]) -> _Pointer | None:
    kind = parameter.type.type if isinstance(parameter.type, c_ast.PtrDecl | c_ast.ArrayDecl) else None
    rows = []
    while isinstance(kind, c_ast.ArrayDecl):
        if kind.dim is None:
            return None
        rows.append(_renamed(kind.dim, names))
        kind = kind.type
    if not isinstance(kind, c_ast.TypeDecl) or not isinstance(kind.type, c_ast.IdentifierType) or (
            kind.type.names == ["void"]):
        return None
    return _Pointer(name, _type(kind), tuple(rows))


def _renamed(node: c_ast.Node, names: Mapping[str, str]) -> str:
    """The text of an extent with the names that the declaration of effects has for parameters."""
    if isinstance(node, c_ast.ID):
        return names.get(node.name, node.name)
    if isinstance(node, c_ast.BinaryOp):
        return f"({_renamed(node.left, names)}) {node.op} ({_renamed(node.right, names)})"
    return c_text(node)


def _text(effects: DeclaredEffects, numbers: Sequence[tuple[str, str]], pointers: Sequence[_Pointer], *,
          returns: str) -> str:
    by_name = {p.name: p for p in pointers}
    lines = [_PROLOGUE, "int main(void) {", "  int polysched_made = 0;"]
    for p in pointers:
        lines += [f"  static {p.element} polysched_{role}_{p.name}[polysched_count];"
                  for role in ("given", "other", "work", "first")]
        lines.append(f"  static unsigned char polysched_r_{p.name}[polysched_count], polysched_w_{p.name}"
                     "[polysched_count];")
    lines.append(f"  for (int polysched_call = 0; polysched_call < {CALLS}; polysched_call++) {{")
    lines += [f"    {kind} {name} = ({kind}){_value(kind)};" for kind, name in numbers]
    for p in pointers:
        filled = "polysched_number(8)" if p.is_integer else "(polysched_number(47) - 23) / (polysched_number(3) + 1.0)"
        lines += [f"    memset(polysched_r_{p.name}, 0, sizeof polysched_r_{p.name});",
                  f"    memset(polysched_w_{p.name}, 0, sizeof polysched_w_{p.name});",
                  f"    {_EACH} {{ "
                  f"polysched_given_{p.name}[polysched_k] = ({p.element}){filled}; "
                  f"polysched_other_{p.name}[polysched_k] = ({p.element}){filled}; }}"]
    for role, sections in (("r", effects.reads), ("w", effects.writes)):
        lines += [line for s in sections if s.pointer in by_name for line in _marked(role, s, by_name[s.pointer])]
    lines += [f"    {_EACH} if (polysched_r_{p.name}[polysched_k]) "
              f"polysched_other_{p.name}[polysched_k] = polysched_given_{p.name}[polysched_k];" for p in pointers]
    if returns:
        lines.append(f"    static {returns} polysched_result, polysched_again;   /* padding is zero */")
    for turn, role in enumerate(("given", "given", "other")):
        lines += _called(effects, numbers, pointers, returns=returns, turn=turn, role=role)
    lines += ["    polysched_made++;", "    polysched_next:;"]
    return "\n".join([*lines, "  }", '  printf("polysched: right %d\\n", polysched_made);', "  return 0;", "}", ""])


def _value(kind: str) -> str:
    """A number for a parameter: small, so that sections stay in memory."""
    if any(word in kind for word in ("float", "double")):
        return "(polysched_number(17) - 8) / 4.0"
    return f"(({kind})-1 > 0 ? polysched_number(9) : polysched_number(10) - 1)"


def _marked(role: str, section: Section, pointer: _Pointer) -> list[str]:
    """Loops over the elements of a section; a call whose sections leave the memory here is not made."""
    at, lines = "0", []
    for level, (first, count) in enumerate(zip(section.firsts, section.counts, strict=True)):
        name = f"polysched_k{level}"
        lines.append(f"    for (long {name} = {c_text(first)}; {name} < ({c_text(first)}) + (long)({c_text(count)}); "
                     f"{name}++)")
        size = f" * (long)({pointer.rows[level - 1]})" if level and level <= len(pointer.rows) else ""
        at = f"({at}){size} + {name}" if level else name
    test = f"polysched_base + ({at}) < 0 || polysched_base + ({at}) >= polysched_count"
    return [*lines, f"      {{ if ({test}) goto polysched_next; "
            f"polysched_{role}_{section.pointer}[polysched_base + ({at})] = 1; }}"]


def _called(effects: DeclaredEffects, numbers: Sequence[tuple[str, str]], pointers: Sequence[_Pointer], *,
            returns: str, turn: int, role: str) -> list[str]:
    lines = [f"    memcpy(polysched_work_{p.name}, polysched_{role}_{p.name}, sizeof polysched_work_{p.name});"
             for p in pointers]
    names = {name for _, name in numbers}
    arguments = ", ".join(name if name in names else f"(void *)(polysched_work_{name} + polysched_base)"
                          for name in effects.parameters)
    taken = f"{'polysched_again' if turn else 'polysched_result'} = " if returns else ""
    lines.append(f"    {taken}{effects.function}({arguments});")
    shown = " ".join(f"{name}=%g" for _, name in numbers)
    values = "".join(f", (double){name}" for _, name in numbers)

    def wrong(what: str, more: str = "") -> str:
        return f'{{ printf("polysched: wrong {what} ({shown})\\n"{more}{values}); return 0; }}'

    for p in pointers:
        lines += _compared(p, turn, role, wrong)
    if returns and turn:
        what = ("it gives another result in a second call with the same memory" if turn == 1
                else "its result depends on memory that it is not declared to read")
        lines.append("    if (memcmp(&polysched_result, &polysched_again, sizeof polysched_result)) " + wrong(what))
    return lines


def _compared(p: _Pointer, turn: int, role: str, wrong: Callable[[str, str], str]) -> list[str]:
    """The memory behind a pointer after the first, second or third call."""
    work, given, first = (f"polysched_{kind}_{p.name}" for kind in ("work", role, "first"))
    place = ", polysched_k - polysched_base"
    differs = f"memcmp(&{work}[polysched_k], &{given}[polysched_k], sizeof *{work})"
    moved = f"memcmp(&{work}[polysched_k], &{first}[polysched_k], sizeof *{work})"
    if turn == 0:
        test, what = f"!polysched_w_{p.name}[polysched_k] && {differs}", f"it writes {p.name}[%d]"
    elif turn == 1:
        test, what = moved, f"it gives {p.name}[%d] another value in a second call with the same memory"
    else:
        kept = f"(!{differs} && !memcmp(&{first}[polysched_k], &polysched_given_{p.name}[polysched_k], sizeof *{work}))"
        test = f"polysched_w_{p.name}[polysched_k] && {moved} && !{kept}"
        what = f"{p.name}[%d] depends on memory that it is not declared to read"
    keep = [f"    memcpy({first}, {work}, sizeof {first});"] if turn == 0 else []
    return [f"    {_EACH} if ({test}) {wrong(what, place)}", *keep]
