"""pet's own answers (`.scop` files) and ours, as the elements that a region reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import islpy as isl
import yaml

from polysched.scop.scop import Scop

READ, WRITE = "read", "write"
# The relations that pet gives an argument of a call, and what they are for us.
SUMMARIES = {"may_read": READ, "may_write": WRITE, "must_write": WRITE}
OWN_FLAG = "__pet_test"
# `[n] -> { S_0[i] -> a[(i)] }`, `{ [S_1[i] -> [v]] -> a[(v)] }`; a parameter or constant has no name there.
_ARRAY = re.compile(r"\{ (?:\[.*\]|\w+\[[^\]]*\]) -> (\w+)\[")


@dataclass
class Elements:
    """Per array and direction the elements that a region reaches.

    Parameters
    ----------
    sets : what is known exactly.
    unknown : arrays with accesses that depend on data.
    """

    sets: dict[tuple[str, str], isl.Set] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def add(self, direction: str, elements: isl.Set) -> None:
        """Enter elements under the name of their array; members of structs are flattened."""
        name = elements.get_tuple_name()
        key = name, direction
        elements = elements.flatten().set_tuple_name(name) if elements.is_wrapping() else elements
        self.sets[key] = self.sets[key].union(elements) if key in self.sets else elements


def of_pet(path: Path) -> tuple[Elements, isl.Set]:
    """What pet's answer says, and its context."""
    answer = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    found = Elements()
    for statement in answer["statements"]:
        if statement["body"].get("expr", {}).get("operation") == "kill":
            continue
        conditional = bool(statement.get("arguments"))
        domain = None if conditional else isl.Set(statement["domain"])
        for access in accesses_in(statement["body"]):
            _enter(found, access, domain)
    return found, isl.Set(answer["context"])


def accesses_in(body: Any) -> Iterator[Mapping[str, Any]]:
    """Every access of a statement, nested ones included."""
    if isinstance(body, dict):
        if body.get("type") == "access":
            yield body
        for value in body.values():
            yield from accesses_in(value)
    elif isinstance(body, list):
        for value in body:
            yield from accesses_in(value)


def _enter(found: Elements, access: Mapping[str, Any], domain: isl.Set | None) -> None:
    if "index" not in access:
        return
    index = access["index"]
    array = _array_name(index)
    if array is None or array.startswith(OWN_FLAG):
        return
    if domain is None or access.get("arguments"):
        found.unknown.add(array)
        return
    summaries = [key for key in SUMMARIES if key in access]
    for key in summaries:
        for relation in _maps(access[key]):
            found.add(SUMMARIES[key], relation.intersect_domain(domain).range())
    if summaries:
        return
    relation = isl.Map.from_multi_pw_aff(isl.MultiPwAff(index))
    for direction in (READ, WRITE):
        if access.get(direction) == "1":
            found.add(direction, relation.intersect_domain(domain).range())


def _array_name(index: str) -> str | None:
    """The array behind an index expression; None for one that leads to no array."""
    found = _ARRAY.search(index)
    return found[1] if found else None


def _maps(text: str) -> list[isl.Map]:
    found: list[isl.Map] = []
    isl.UnionMap(text).foreach_map(found.append)
    return found


def of_ours(scop: Scop) -> Elements:
    """What our Scop says; flags that the front end made up are left out."""
    assert scop.source is not None
    found = Elements()
    for statement in scop.statements:
        for access in statement.accesses:
            if scop.array(access.array).c_element.split("[")[0].split(".")[0] not in scop.source.text:
                continue
            if not access.exact:
                found.unknown.add(access.array)
                continue
            elements = access.relation.intersect_domain(statement.domain).range()
            found.add(READ if not access.is_write else WRITE, elements)
    return found


def differences(pet: Elements, ours: Elements, context: isl.Set) -> tuple[list[str], list[str]]:
    """What is different, element by element, and the arrays that cannot be compared because data decides."""
    unknown = pet.unknown | ours.unknown
    found = []
    for key in sorted(set(pet.sets) | set(ours.sets)):
        if key[0] not in unknown:
            different = _difference(pet.sets.get(key), ours.sets.get(key), context)
            found += [f"{key[1]} {key[0]}: {different}"] if different else []
    return found, sorted(unknown)


def _difference(pet: isl.Set | None, ours: isl.Set | None, context: isl.Set) -> str:
    if pet is None or ours is None:
        present, side = (pet, "pet") if ours is None else (ours, "ours")
        assert present is not None
        is_parameter = present.dim(isl.dim_type.set) == 0
        return "" if is_parameter or present.intersect_params(context).is_empty() else f"only in {side}"
    if pet.dim(isl.dim_type.set) != ours.dim(isl.dim_type.set):
        return "shapes"
    if not pet.intersect_params(context).is_equal(ours.intersect_params(context)):
        return f"elements: pet {pet}, ours {ours}"
    return ""
