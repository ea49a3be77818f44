"""The LibraryFunction value: a function of a library, or of the user, described by C that computes the same.

The C is read by the project's own front end.  Pointers are operands, `int` parameters are extents, leading dimensions
and steps (`x[i * incx]`), and numbers are handed over by value.  Several loops, locals and calls of libm are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.if_conversion import without_branches
from polysched.errors import SourceSyntaxError
from polysched.records import dataclass
from polysched.scop import from_c_text
from polysched.scop.body import Assign, BodyStatement, If
from polysched.scop.scop import Scop, Storage
from polysched.scop.signature import FunctionSignature
from polysched.tensorize.description.intrinsic import Cost, Isa

HEADERS = "#include <math.h>\n#include <stdint.h>\n"   # that a described function may use
HEAD = re.compile(r"\A(.*?\))\s*\{(.*)\}\s*\Z", re.DOTALL)
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")   # a parameter's place in the words of a call


@dataclass(frozen=True)
class Variant:
    """One way to call a function: what it computes then, and the call.

    Parameters
    ----------
    text : the C function; its parameters are what the call is told.
    call : C with the parameters' names in braces, `f({n}, {x}, {incx});`; "" for the parameters in their order.
    requires : what has to hold of the `int` parameters beside what the text says, in isl's words (`incx >= 1`).
    helpers : C functions that the text calls; they are inlined.
    """

    text: str
    call: str = ""
    requires: str = ""
    helpers: str = ""

    @cached_property
    def marked(self) -> str:
        """The text with its whole body as the region.

        Raises
        ------
        SourceSyntaxError : it is no single function.
        """
        found = HEAD.match(self.text.strip())
        if found is None:
            raise SourceSyntaxError("a described function is one C function with a body", where="description",
                                    witness=self.text.strip().splitlines()[0] if self.text.strip() else "nothing")
        head, body = found.groups()
        return f"{HEADERS}{self.helpers}{head} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"

    @cached_property
    def scop(self) -> Scop:
        """The text as a Scop; what branches write of one element is a choice: its own code decides what it writes.

        Raises
        ------
        PolyschedError : the front end refuses it.
        SourceSyntaxError : it holds something else than assignments of known elements, and branches over these.
        """
        scop = without_branches(from_c_text(self.marked, path="<description>"), exists=lambda _: True)
        for statement in scop.statements:
            if len(statement.body) != 1 or not _are_assignments(statement.body):
                raise SourceSyntaxError("a described function consists of assignments", where=scop.name,
                                        witness=f"statement {statement.name} is a loop that data decide")
            if inexact := [a for a in statement.accesses if not a.exact]:
                raise SourceSyntaxError("a described function accesses elements that its loops determine",
                                        where=scop.name, witness=f"an element of {inexact[0].array} depends on data")
        if not any(self.is_output(scop, a) for s in scop.statements for a in {w.array for w in s.writes}):
            raise SourceSyntaxError("a described function writes something", where=scop.name,
                                    hint="return nothing; write the result through a pointer")
        return scop

    @staticmethod
    def is_output(scop: Scop, array: str) -> bool:
        """Whether an array is memory of the caller."""
        return scop.array(array).storage is not Storage.LOCAL

    @cached_property
    def dependences(self) -> Dependences:
        """The value-based dependences of the text."""
        return analyse(self.scop)

    @property
    def name(self) -> str:
        """The function's name in the text."""
        return self.scop.name

    @cached_property
    def signature(self) -> FunctionSignature:
        """How the function is called."""
        source = self.scop.source
        assert source is not None
        assert source.signature is not None   # the text is a function
        return source.signature

    @cached_property
    def template(self) -> str:
        """The call as C.

        Raises
        ------
        SourceSyntaxError : it names something that is no parameter of the function.
        """
        names = [p.name for p in self.signature.parameters]
        other = [n for n in FIELD.findall(self.call) if n not in names]
        if other:
            raise SourceSyntaxError("a call names what is no parameter of its function", where=self.name,
                                    witness=f"{{{other[0]}}}", hint=f"the parameters are {', '.join(names)}")
        return self.call or f"{self.name}({', '.join(f'{{{n}}}' for n in names)});"

    def called_with(self, words: Mapping[str, str]) -> str:
        """The call with C in the place of its parameters."""
        return FIELD.sub(lambda field: words[field.group(1)], self.template)

    @cached_property
    def preconditions(self) -> isl.Set:
        """The values of the `int` parameters for which the text means what the call computes.

        Raises
        ------
        SourceSyntaxError : `requires` is no condition on them.
        """
        names = ", ".join(p.name for p in self.scop.parameters)
        text = f"[{names}] -> {{ : {self.requires or 'true'} }}"
        try:
            required = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
        except isl.Error:
            raise SourceSyntaxError("what a described function requires is no condition on its sizes", where=self.name,
                                    witness=self.requires, hint=f"write it in isl's words, on {names or 'no name'}"
                                    ) from None
        return self.scop.context.intersect(required).coalesce()


def _are_assignments(items: tuple[BodyStatement, ...]) -> bool:
    """Whether a body is of assignments, and of branches over these."""
    return all(isinstance(item, Assign) or (isinstance(item, If) and _are_assignments((*item.then, *item.otherwise)))
               for item in items)


@dataclass(frozen=True, kw_only=True)
class LibraryFunction:
    """A function that loops of a program may become a call of.

    Parameters
    ----------
    name : key in the registry.
    variants : ways to call it, each with what it computes.
    isa : headers and compiler flags that a caller needs.
    cost : per innermost iteration, and what a call costs.
    section : of the manual.
    reorders : the function may add floats in another order, and round a product with its addition once. Without it the
        function computes what the text says, operation by operation.
    inline : the text itself is put into the program and called, since no library has it.
    packs : the operands are copied into arrays of the shapes that the text declares, where they lie otherwise.
    """

    name: str
    variants: tuple[Variant, ...]
    isa: Isa = field(default_factory=lambda: Isa(name="described", machine="library", manual="its C code"))
    cost: Cost = field(default_factory=lambda: Cost(issue_cycles=1, latency_cycles=100, source="a call"))
    section: str = ""
    reorders: bool = False
    inline: bool = False
    packs: bool = False
