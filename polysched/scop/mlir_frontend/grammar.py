"""Text of MLIR as operations: modules, regions and the generic form; the dialects' own forms are in `custom_forms`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from copy import copy
from typing import Any

from polysched.errors import SourceLocation, SourceSyntaxError
from polysched.scop.mlir_frontend.attributes import read_attribute, read_attributes, read_type, result_types
from polysched.scop.mlir_frontend.operations import Block, Operation, walk
from polysched.scop.mlir_frontend.words import Words

READ = "func, affine, arith, math and memref"
_FUNCTION = re.compile(r"func\.func\s+(?:private\s+|public\s+|nested\s+)?@([\w$.]+|\"[^\"]*\")")
_INSIDE = re.compile(rf"(?:^|[{{}}]|\n)[ \t]*{_FUNCTION.pattern}(?=[^\n]*\{{)")
_BESIDE = re.compile(r"memref\.global$|(?!(?:func|affine|scf|cf|arith|math|memref)\.)\w+\.")
"""What stands beside functions: no operation of those that are read, and none of loops."""
_NOW = {"func": "func.func", "constant": "arith.constant", "load": "memref.load", "store": "memref.store",
        "alloc": "memref.alloc", "alloca": "memref.alloca", "select": "arith.select",
        **{name: f"arith.{name}" for name in ("addf", "subf", "mulf", "divf", "addi", "subi", "muli", "cmpf", "cmpi",
                                              "index_cast", "sitofp")}}
"""Operations of the dialect `std`, which is no more."""
CustomForm = Callable[["Grammar", str, tuple[str, ...], int], Operation]


def apart(name: str, taken: Collection[str]) -> str:
    """The name of a function, with primes behind it where another module has one of that name."""
    while name in taken:
        name += "'"
    return name


class Grammar:
    """Reads operations.

    Parameters
    ----------
    forms : how operations are read that are not in the generic form, by name.
    """

    def __init__(self, words: Words, forms: Mapping[str, CustomForm]) -> None:
        self.words, self.forms = words, forms
        self.aliases: dict[str, Any] = {}
        self.refused: dict[str, SourceSyntaxError] = {}

    def top(self) -> tuple[Operation, ...]:
        """Everything of a text.

        Raises
        ------
        SourceSyntaxError : it cannot be read, nor any function of it.
        """
        found: list[Operation] = []
        while self.words.word:
            if self.words.kind == "named" and self.words.word[0] in "#!":
                name = self.words.next()
                self.words.expect("=")
                if self.words.word == "loc":
                    self.place()
                else:
                    self.aliases[name] = read_attribute(self.words, self.aliases)
            else:
                found += self.declared()
        top = Block(operations=tuple(found))
        if self.refused and not any(operation.name == "func.func" for operation in walk(top)):
            raise next(iter(self.refused.values()))
        return tuple(found)

    def declared(self) -> tuple[Operation, ...]:
        """What stands in a module: what is no function or module says nothing of loops, and is passed.

        Several functions need not all be read: one that cannot be is kept in `refused`.
        """
        words = self.words
        if words.kind == "word" and words.word not in self.forms and _BESIDE.match(words.word):
            self._pass_by()
            return ()
        before = copy(words)
        try:
            return (self.operation(),)
        except SourceSyntaxError as error:
            name = _FUNCTION.match(before.text, before.at)
            if name is None:
                raise
            self.refused[apart(name[1].strip('"'), self.refused)] = error
            words.go_back(before)
            words.pass_lines()
            return ()

    def _pass_by(self) -> None:
        """Pass an operation of another dialect; functions with a body inside of it are kept in `refused`."""
        words = self.words
        around, line, begin = words.word, words.line, words.at
        words.pass_lines()
        passed = words.text[begin:words.at if words.word else len(words.text)]
        for function in _INSIDE.finditer(passed):
            name = apart(function[1].strip('"'), self.refused)
            self.refused[name] = SourceSyntaxError(
                f"a function stands inside {around}, which is not read", witness=f"@{name}",
                where=SourceLocation(words.path, line + passed.count("\n", 0, function.start(1))),
                hint="move it into the module around")

    def operation(self) -> Operation:
        """One operation."""
        words = self.words
        line, results = words.line, self._results()
        if words.kind == "text":
            found = self._generic(words.next()[1:-1], results, line)
        elif words.word in self.forms:
            found = self.forms[words.word](self, words.next(), results, line)
        elif words.kind == "word":
            old = words.word if words.word in _NOW else ""
            words.refuse("no such operation is read", hint=f"MLIR since version 15 spells it `{_NOW[old]}`" if old else
                         f"those of {READ} are; `mlir-opt` lowers or raises others")
        else:
            words.refuse("an operation was expected")
        self.place()
        return found

    def _results(self) -> tuple[str, ...]:
        words, names = self.words, []
        while words.kind == "value":
            name, _, count = words.next()[1:].partition(":")
            names += [f"{name}#{k}" for k in range(min(int(count), 1000))] if count else [name]
            if not words.accept(","):
                words.expect("=")
                break
        return tuple(names)

    def _generic(self, name: str, results: tuple[str, ...], line: int) -> Operation:
        words = self.words
        words.expect("(")
        operands = tuple(words.listed(")", self.value))
        attributes: dict[str, Any] = {}
        if words.accept("<"):
            attributes = read_attributes(words, self.aliases)
            words.expect(">")
        regions = tuple(words.listed(")", self.region)) if words.accept("(") else ()
        if words.word == "{":
            attributes = attributes | read_attributes(words, self.aliases)
        words.expect(":")
        words.expect("(")
        operand_types = tuple(words.listed(")", lambda: read_type(words)))
        words.expect("->")
        types = result_types(words)
        if len(operand_types) != len(operands) or len(types) != len(results):
            words.refuse(f"{name} before this has other numbers of types than of operands and results")
        return Operation(name=name, results=results, operands=operands, attributes=attributes, regions=regions,
                         types=types, operand_types=operand_types, line=line)

    def value(self) -> str:
        """The name of a value, without `%`."""
        return self.words.of_kind("value", "a value")[1:]

    def placed_value(self) -> str:
        """The same, with a place in another file where one is said."""
        name = self.value()
        self.place()
        return name

    def argument(self) -> tuple[str, str]:
        """`%name: type`, with attributes that say nothing here."""
        name = self.placed_value()
        self.words.expect(":")
        text = read_type(self.words)
        if self.words.word == "{":
            read_attributes(self.words, self.aliases)
        self.place()
        return name, text

    def place(self) -> None:
        """Pass the place in another file, where one is said."""
        if self.words.accept("loc"):
            self.words.balanced("(", ")")

    def module(self) -> Block:
        """The region of a module."""
        found: list[Operation] = []
        self.words.expect("{")
        self.words.deeper()
        while not self.words.accept("}"):
            if not self.words.word:
                self.words.refuse("`}` was expected")
            found += self.declared()
        self.words.depth -= 1
        return Block(operations=tuple(found))

    def region(self, arguments: tuple[tuple[str, str], ...] = ()) -> Block:
        """A region of one block.

        Parameters
        ----------
        arguments : of the block, where they are written elsewhere.
        """
        words, found = self.words, []
        words.expect("{")
        words.deeper()
        if words.word.startswith("^"):
            words.next()
            if words.accept("("):
                arguments = tuple(words.listed(")", self.argument))
            words.expect(":")
        while not words.accept("}"):
            if words.word.startswith("^"):
                words.refuse("a region has a second block", hint="give loops and conditions of the affine dialect")
            found.append(self.operation())
        words.depth -= 1
        return Block(tuple(name for name, _ in arguments), tuple(text for _, text in arguments), tuple(found))
