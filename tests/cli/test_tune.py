"""`polysched tune` and `polysched db` as a user runs them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from polysched.cli.db import ACTIONS
from polysched.cli.tune import MODEL_NAMES, STRATEGY_NAMES
from polysched.search import STRATEGIES
from polysched.search.models import MODELS
from polysched.search.packages.with_optuna import OPTUNA
from tests.cli.command import is_refusal, polysched
from tests.search.programs import PRODUCT, RENAMED

SPACE = """\
from polysched.search import Recipe
from polysched.tiling import BandOptions

def template(choose, dependences):
    edge = choose.one_of("edge", (8, 16))
    return Recipe(bands={0: BandOptions(sizes=edge, register=False)})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    (folder / "product.c").write_text(PRODUCT)
    (folder / "other.c").write_text(RENAMED)
    (folder / "space.py").write_text(SPACE)
    done = polysched("tune", "product.c", "--size", "n=40", "--space", "space.py:template", "--strategy", "grid",
                     "--trials", "2", "--database", "tuned.db", "--threads", "1", "--json", "found.json",
                     "--report", "found.html",
                     "--cflags", "-O3 -march=native", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("product(n=40), 1 thread\ngain: ")
    return folder


def test_what_was_found_is_json(folder):
    assert "<h1>product: gain " in (folder / "found.html").read_text()
    value = json.loads((folder / "found.json").read_text())
    assert (value["trials"], value["rejected"]) == (2, 0)
    assert value["gain"]["interval"][0] <= value["gain"]["median"] <= value["gain"]["interval"][1]
    assert value["recipe"]["format"] == "polysched recipe 1"


def test_a_resumed_search_repeats_nothing(folder):
    done = polysched("tune", "product.c", "--size", "n=40", "--space", "space.py:template", "--strategy", "grid",
                     "--trials", "2", "--database", "tuned.db", "--threads", "1", "--resume", "--json", folder=folder)
    value = json.loads(done.stdout)
    assert value["repeated"] >= 3
    assert value["verdicts"] == {"timed": 2}


def test_the_database_is_listed_shown_verified_and_replayed(folder):
    assert polysched("db", "list", "tuned.db", folder=folder).stdout.startswith("product(p0=40), 1 threads: gain ")
    shown = polysched("db", "show", "tuned.db", "product", "--json", folder=folder)
    assert [t["verdict"] for t in json.loads(shown.stdout)[0]["trials"]][:3] == ["timed"] * 3
    checked = polysched("db", "verify", "tuned.db", "product.c", "other.c", folder=folder)
    assert checked.returncode == 0, checked.stderr
    assert "1 records for this machine give the measured code" in checked.stdout
    replayed = polysched("db", "replay", "tuned.db", "other.c", "--threads", "1", folder=folder)
    assert "Out[" in replayed.stdout
    with sqlite3.connect(folder / "tuned.db") as database:
        lines = polysched("db", "export", "tuned.db", folder=folder).stdout.splitlines()
        ((code,),) = database.execute("SELECT code FROM winners")
    (folder / "changed.jsonl").write_text("\n".join(line.replace(code, "0" * 64) for line in lines if line))
    polysched("db", "merge", "changed.db", "changed.jsonl", folder=folder)
    changed = polysched("db", "replay", "changed.db", "other.c", "--threads", "1", folder=folder)
    assert (changed.returncode, changed.stdout) == (2, "")
    assert "no longer the one that was measured" in changed.stderr
    missing = polysched("db", "replay", "tuned.db", "other.c", "--threads", "3", folder=folder)
    assert is_refusal(missing)
    assert "no record that can be replayed" in missing.stderr


def test_records_go_out_as_lines_and_into_another_database(folder):
    assert polysched("db", "export", "tuned.db", "-o", "all.jsonl", folder=folder).returncode == 0
    done = polysched("db", "merge", "new.db", "all.jsonl", folder=folder)
    count = len((folder / "all.jsonl").read_text().splitlines())
    assert done.stdout == f"all.jsonl: {count} new records\n"
    again = polysched("db", "export", "new.db", folder=folder)
    assert again.stdout == (folder / "all.jsonl").read_text()


def test_c2c_looks_up(folder):
    done = polysched("c2c", "product.c", "--database", "tuned.db", "-o", "out.c", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "database: " in done.stdout
    assert is_refusal(polysched("c2c", "product.c", "--database", "none.db", folder=folder))


@pytest.mark.parametrize("words", [
    ("tune", "product.c", "--resume"), ("tune", "product.c", "--space", "nothing"),
    ("tune", "product.c", "--space", "space.py:nothing"), ("tune", "product.c", "--space", "none.py:f"),
    ("tune", "product.c", "--sketch", "m:s"), ("tune", "product.c", "--each-machine"),
    ("tune", "product.c", "--each-machine", "--cluster", "local", "--size", "n=8..64"),
    ("db", "list", "none.db"), ("db", "list", "product.c"), ("db", "show", "tuned.db", "nothing"),
    ("db", "replay", "tuned.db"), ("db", "merge", "tuned.db"), ("db", "verify", "product.c")])
def test_misuse_is_refused(folder, words):
    assert is_refusal(polysched(*words, folder=folder))


def test_a_size_that_an_expression_has_not_is_refused_by_its_name(tmp_path):
    (tmp_path / "own_terms.py").write_text("from polysched.scop.expression import compute, placeholder\n"
                                           "x = placeholder('x', (8,))\ny = compute((8,), lambda i: 2 * x[i])\n")
    done = polysched("tune", "own_terms:y", "--size", "n=4", "--trials", "1", folder=tmp_path)
    assert is_refusal(done)
    assert "--size n: own_terms:y has no such parameter" in done.stderr


def test_a_sketch_is_named_and_what_is_none_is_refused(tmp_path):
    (tmp_path / "own_forms.py").write_text(
        "from polysched.scop.expression import axis, compute, placeholder, sum\n"
        "from polysched.search.rewriting.sketches import contains, total\n"
        "a, k = placeholder('A', (4, 64), 'uint64'), axis('k')\n"
        "y = compute((4,), lambda i: sum(a[i, k], over=k), name='y')\n"
        "parts, other = contains(total(extents=(16,))), contains(total(extents=(7,)))\n")
    words = ("tune", "own_forms:y", "--terms", "--trials", "3", "--threads", "1", "--json", "--sketch")
    done = polysched(*words, "own_forms:parts", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [t["term"] for t in json.loads(done.stdout)["terms"]] == [[], ["split reduction of y"]]
    for sketch, why in (("own_forms:other", "no term has the form of sketch 1"), ("own_forms:y", "and no sketch")):
        done = polysched(*words, sketch, folder=tmp_path)
        assert is_refusal(done)
        assert why in done.stderr


def test_the_choices_are_those_of_the_room():
    assert (*STRATEGIES, OPTUNA) == STRATEGY_NAMES
    assert tuple(MODELS) == MODEL_NAMES
    assert set(ACTIONS) == {"list", "show", "replay", "verify", "merge", "export"}


def test_a_range_becomes_variants(folder):
    done = polysched("tune", "product.c", "--size", "n=24..48", "--samples", "2", "--variants", "2", "--space",
                     "space.py:template", "--strategy", "grid", "--trials", "2", "--database", "range.db", "--threads",
                     "1", "--json", "range.json", folder=folder)
    assert done.returncode == 0, done.stderr
    value = json.loads((folder / "range.json").read_text())
    assert (value["parameter"], value["trials"], sorted(value["found"])) == ("n", 4, ["24", "48"])
    assert value["variants"][0]["from"] == 0
    listed = polysched("db", "list", "range.db", folder=folder).stdout
    assert "product(p0), 1 threads: from 0 on " in listed
    for words in (("--size", "n=24..48"), ("--size", "n=48..24", "--database", "range.db")):
        assert is_refusal(polysched("tune", "product.c", *words, folder=folder))
