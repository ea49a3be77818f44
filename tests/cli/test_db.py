"""`polysched db` on an empty database; with records it is tested beside `polysched tune`."""

from tests.cli.command import polysched


def test_an_empty_database(tmp_path):
    (tmp_path / "nothing.jsonl").write_text("")
    assert polysched("db", "merge", "new.db", "nothing.jsonl", folder=tmp_path).stdout == (
        "nothing.jsonl: 0 new records\n")
    assert polysched("db", "list", "new.db", folder=tmp_path).stdout == "the database is empty\n"
    assert polysched("db", "verify", "new.db", folder=tmp_path).stdout == "0 records are sound\n"
