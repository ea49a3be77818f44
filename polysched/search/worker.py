"""A process that makes the C of recipes for its parent: one line of JSON in, one out; it ends with its input.

Started by `pool.PoolBuilder` as `python -m polysched.search.worker`.  The first line says which region of which file,
and with which options; every further line is a recipe.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from polysched.errors import PolyschedError, UsageError
from polysched.pipeline.kept_stages import KeptStages, keeping
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop import all_from_c_file
from polysched.scop.scop import Scop
from polysched.search.building import Wanted, made_candidate
from polysched.search.space import Proposal


def first_line(scop: Scop, options: PipelineOptions) -> str:
    """What a worker has to know; options travel as the parent's own pickle, to its own child alone."""
    source = scop.source
    assert source is not None
    return json.dumps({"path": os.path.abspath(source.path), "start": source.start, "text": source.text,
                       "options": base64.b64encode(pickle.dumps(options)).decode()})


def region_of(request: Mapping[str, Any]) -> tuple[Scop, PipelineOptions]:
    """The region and the options of a first line.

    Raises
    ------
    UsageError : the file has changed since.
    """
    options: PipelineOptions = pickle.loads(base64.b64decode(request["options"]))
    for scop in all_from_c_file(request["path"], include_dirs=options.include_dirs, defines=options.defines,
                                cc=options.cc, pure=options.pure, autodetect=options.autodetect):
        if scop.source is not None and (scop.source.start, scop.source.text) == (request["start"], request["text"]):
            return scop, options
    raise UsageError("the file has changed since the search began", where=request["path"])


def answer(scop: Scop, options: PipelineOptions, request: Mapping[str, Any]) -> dict[str, Any]:
    """The C of a recipe, or why there is none, as JSON values."""
    try:
        proposal = Proposal(recipe=Recipe.from_json(request["recipe"]))
        made = made_candidate(Wanted(number=int(request["number"]), proposal=proposal), scop, options)
    except PolyschedError as error:
        made = error
    if isinstance(made, PolyschedError):
        return {"problem": made.problem, "witness": made.witness, "hint": made.hint}
    return {"text": made.text, "code": made.code}


def main() -> None:
    """Answer lines until there are no more; what the stages print goes to standard error."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    scop, options = region_of(json.loads(sys.stdin.readline()))
    with keeping(KeptStages()):
        for line in sys.stdin:
            out.write(json.dumps(answer(scop, options, json.loads(line))) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
