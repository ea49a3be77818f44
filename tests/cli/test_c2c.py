"""`polysched c2c`: byte for byte outside the regions, and every bad input refused."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.experiment.listings import report_values, unpack
from polysched.target import find_compiler
from tests.cli.command import PRODUCT, SCALING, is_refusal, polysched


@pytest.fixture
def product(tmp_path: Path) -> Path:
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    return path


@pytest.fixture
def scaling(tmp_path: Path) -> Path:
    path = tmp_path / "scaling.c"
    path.write_text(SCALING)
    return path


def outside_regions(text: bytes) -> list[bytes]:
    return re.split(rb"[ \t]*#pragma scop.*?#pragma endscop", text, flags=re.DOTALL)


def compiles(path: Path) -> bool:
    compiler = find_compiler()
    return compiler.run(["-fsyntax-only", "-Werror", *compiler.openmp_compile, str(path)]).returncode == 0


def test_everything_outside_the_region_stays(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "-o", "out.c", "--no-portable", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    before, after = outside_regions(product.read_bytes())
    text = (tmp_path / "out.c").read_bytes()
    assert text.startswith(before)
    assert text.endswith(after)
    assert b"#pragma scop" not in text
    assert compiles(tmp_path / "out.c")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.c", "product.c"]


def test_odd_bytes_and_line_ends_outside_the_region_stay(tmp_path: Path) -> None:
    source = b"/* caf\xe9 \xff */\r\n" + SCALING.replace("\n", "\r\n").encode() + b"// no newline at the end"
    (tmp_path / "in.c").write_bytes(source)
    done = polysched("c2c", "in.c", "-o", "out.c", "--no-portable", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    before, after = outside_regions(source)
    text = (tmp_path / "out.c").read_bytes()
    assert text.startswith(before)
    assert text.endswith(after)


def test_functions_for_wide_vectors_stand_around_what_stays(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.c").read_bytes()
    line, rest = text.split(b"\n", 1)
    assert line.startswith(b"/* polysched: fastest with -O3 -march=native")
    at = 0
    for part in outside_regions(product.read_bytes()):
        for written in part.splitlines():
            at = rest.index(written, at) + len(written)
    assert compiles(tmp_path / "out.c")


def test_all_regions_of_a_file_are_done(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(SCALING + PRODUCT)
    done = polysched("c2c", "in.c", "--json", "report.json", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "#pragma scop" not in (tmp_path / "out.c").read_text()
    regions = json.loads((tmp_path / "report.json").read_text())["regions"]
    assert [r["function"] for r in regions] == ["scaling", "product"]
    assert compiles(tmp_path / "out.c")


def test_the_report_counts_the_work_at_given_sizes(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "--json", "report.json", "-o", "out.c", "--size", "n=10", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    values = report_values(tmp_path / "report.json")
    assert (values["flop_count"], values["bytes_moved"]) == (2 * 10**3, 4 * 100 * 8)
    assert values["sizes"] == {"n": 10}
    (listing,) = unpack(values["listings"])
    assert "C[i][j] += " in listing.original
    assert any(step.startswith("band 0: tiles") for step in values["steps"])


def test_the_report_tells_what_was_given_by_hand_for_nothing(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "--tile", "8,8,8,8", "--json", "-", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (region,) = json.loads(done.stdout)["regions"]
    assert region["fallbacks"] == [
        "tiles of 8,8,8,8: the deepest band has 3 loops, so what follows 8,8,8 is of no use"]


def test_without_a_name_the_standard_output_is_used(tmp_path: Path, scaling: Path) -> None:
    done = polysched("c2c", "scaling.c", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("/* before */\n")
    assert done.stdout.endswith("/* after */\n")


def test_options_reach_the_stages(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "-o", "out.c", "--scheduler", "isl", "--tile", "8,16,32", "--no-parallel",
                     "--json", "-", "--dump-stages", "stages", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    chosen = {"scheduler": "isl", "fusion": "smart", "tile": [8, 16, 32], "parallel": False}
    assert chosen.items() <= report["options"].items()
    region = report["regions"][0]
    assert region["schedule"]["algorithm"] == "isl"
    assert region["bands"][0]["tile"] == [8, 16, 32]
    assert set(region["seconds"]) == {"dependences", "schedule", "tiled", "emitted"}
    assert region["dependences"] == {"flow": 1, "anti": 0, "output": 1}
    assert "parallel" not in (tmp_path / "out.c").read_text()
    assert "band" in region["listing"]["schedule"]
    assert "for (" in region["listing"]["transformed"]
    assert sorted(p.name for p in (tmp_path / "stages").iterdir()) == [
        "1-scop.txt", "2-dependences.txt", "3-schedule.txt", "4-tiled.txt", "5-emitted.c", "passes"]
    assert all(p.stat().st_size for p in (tmp_path / "stages").iterdir())


def test_tile_off_and_original_order_keep_the_loops(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "--tile", "off", "--scheduler", "original", "--no-parallel",
                     "--vector-bits", "0", folder=tmp_path)
    assert len(re.findall(r"\bfor \(", done.stdout)) == 3


def test_macros_and_folders_reach_the_preprocessor(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("#define SIZE (N + EXTRA)\n")
    (tmp_path / "in.c").write_text('#include "size.h"\nvoid f(int N, double A[SIZE]) {\n#pragma scop\n'
                                   "  for (int i = 0; i < SIZE; i++) A[i] = VALUE;\n#pragma endscop\n}\n")
    done = polysched("c2c", "in.c", "-I", "include", "-D", "EXTRA=4", "-DVALUE=2.5", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '#include "size.h"' in done.stdout
    assert "2.5" in done.stdout


def region(body: str, declarations: str = "") -> str:
    return (f"{declarations}\nvoid f(int n, double *A, double (*B)[100], int *index)\n{{\n#pragma scop\n{body}\n"
            "#pragma endscop\n}\n")


LOOP = "for (int i = 0; i < n; i++)"
REFUSED = {
    "no scop": ("void f(void) { }\n", r"in\.c.*scop"),
    "unclosed scop": ("void f(int n, double *A) {\n#pragma scop\n for (int i = 0; i < n; i++) A[i] = 0;\n}\n",
                      r"in\.c:2.*scop"),
    "syntax error": (region(f"{LOOP} A[i] = = 0;"), r"in\.c"),
    "goto": (region(f"{LOOP} {{ if (A[i] > 0) goto out; A[i] = 1; }}\nout: ;"), r"in\.c:\d+.*goto"),
    "pointer walk": (region(f"double *p = A;\n{LOOP} if (A[i] > 0) *p++ = 0;"), r"in\.c:\d+"),
    "call with side effects": (region(f"{LOOP} A[i] = next(i);", "double next(int);"), r"in\.c:\d+.*next"),
    "missing include": ('#include "missing.h"\n' + region(f"{LOOP} A[i] = 0;"), r"in\.c.*missing\.h|missing\.h"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    text, message = REFUSED[name]
    (tmp_path / "in.c").write_text(text)
    (tmp_path / "out.c").write_text("precious\n")
    done = polysched("c2c", "in.c", "-o", "out.c", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert re.search(message, done.stderr, re.DOTALL), done.stderr
    assert (tmp_path / "out.c").read_text() == "precious\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.c", "out.c"]


@pytest.mark.parametrize("name", ["goto", "pointer walk", "call with side effects"])
def test_what_the_user_can_change_gets_a_hint(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.c").write_text(REFUSED[name][0])
    assert "\n  hint: " in polysched("c2c", "in.c", folder=tmp_path).stderr


def test_a_loop_that_is_kept_whole_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(region("for (int i = 1; i < n; i *= 2) A[i] = 0;"))
    done = polysched("c2c", "in.c", folder=tmp_path)
    assert done.returncode == 0
    assert "for (int i = 1; i < n; i *= 2) A[i] = 0;" in done.stdout
    assert re.search(r"in\.c:\d+: the loop .* is kept whole: the loop's step is not a constant; to have ",
                     done.stderr)


def test_a_while_loop_is_kept_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(region("int i = 0;\nwhile (A[i] > 0) { A[i] = 0; i = i + 1; }"))
    done = polysched("c2c", "in.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"i = 0;\s*while \(A\[i\] > 0\) \{\s*A\[i\] = 0;\s*i = i \+ 1;\s*\}", done.stdout), done.stdout


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"\xff\xfe\x00", b"#pragma scop\n#pragma endscop", b"}" * 99])
def test_rubbish_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.c").write_bytes(content)
    assert is_refusal(polysched("c2c", "in.c", folder=tmp_path))


def test_a_missing_input_is_refused(tmp_path: Path) -> None:
    done = polysched("c2c", "nowhere.c", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert "nowhere.c" in done.stderr


def test_a_folder_as_input_is_refused(tmp_path: Path) -> None:
    assert is_refusal(polysched("c2c", ".", folder=tmp_path))


@pytest.mark.parametrize("output", ["missing/out.c", ".", "scaling.c", "scaling.c/out.c"])
def test_an_unwritable_output_is_refused_before_anything_is_done(tmp_path: Path, scaling: Path, output: str) -> None:
    done = polysched("c2c", "scaling.c", "-o", output, "--dump-stages", "stages", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert output in done.stderr
    assert scaling.read_text() == SCALING
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scaling.c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_read_only_output_is_left_alone(tmp_path: Path, product: Path) -> None:
    output = tmp_path / "out.c"
    output.write_text("precious\n")
    output.chmod(0o444)
    done = polysched("c2c", "product.c", "-o", "out.c", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert output.read_text() == "precious\n"


def test_a_full_disk_is_refused(tmp_path: Path, scaling: Path) -> None:
    done = polysched("c2c", "scaling.c", "-o", "/dev/full", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert "/dev/full" in done.stderr


def test_an_existing_output_keeps_its_permissions_and_its_link(tmp_path: Path, scaling: Path) -> None:
    real = tmp_path / "real.c"
    real.write_text("old\n")
    real.chmod(0o640)
    (tmp_path / "link.c").symlink_to(real)
    assert polysched("c2c", "scaling.c", "-o", "link.c", folder=tmp_path).returncode == 0
    assert (tmp_path / "link.c").is_symlink()
    assert "/* before */" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_no_compiler_is_one_line_that_names_the_extra(tmp_path: Path, product: Path) -> None:
    program = ("import importlib.util, sys\n"
               "found = importlib.util.find_spec\n"
               "importlib.util.find_spec = lambda name, *rest: None if name == 'ziglang' else found(name, *rest)\n"
               "from polysched.cli import main\n"
               "sys.exit(main(['c2c', 'product.c', '-o', 'out.c']))")
    environment = {k: v for k, v in os.environ.items() if k != "CC"} | {"PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=environment)
    assert is_refusal(done), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "polysched[compiler]" in done.stderr
    assert not (tmp_path / "out.c").exists()


def test_a_compiler_that_does_not_exist_is_refused(tmp_path: Path, product: Path) -> None:
    done = polysched("c2c", "product.c", "--cc", "no-such-cc", folder=tmp_path)
    assert is_refusal(done)
    assert "no-such-cc" in done.stderr


@pytest.mark.parametrize("tile", ["0", "-3", "x", "8,,8", "8,0", ""])
def test_a_senseless_tile_size_is_refused(tmp_path: Path, product: Path, tile: str) -> None:
    done = polysched("c2c", "product.c", f"--tile={tile}", folder=tmp_path)
    assert done.returncode == 2
    assert "--tile" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_quick_to_import_and_has_examples(tmp_path: Path) -> None:
    for command in ((), ("c2c",), ("run",), ("demo",), ("extract",), ("deps",)):
        done = polysched(*command, "--help", folder=tmp_path)
        assert done.returncode == 0
        assert "example" in done.stdout
    modules = subprocess.run([sys.executable, "-X", "importtime", "-m", "polysched", "--help"], capture_output=True,
                             text=True, check=True, cwd=tmp_path).stderr
    for heavy in ("islpy", "numpy", "ortools", "pycparser", "rich", "sympy"):
        assert not re.search(rf"\| +{heavy}$", modules, re.MULTILINE), f"--help imports {heavy}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_standard_output_is_refused(scaling: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "polysched", "c2c", str(scaling)], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 2
    assert "the output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_things_on_the_standard_output_are_refused(tmp_path: Path, scaling: Path) -> None:
    done = polysched("c2c", "scaling.c", "--json", "-", "-o", "-", folder=tmp_path)
    assert is_refusal(done)
    assert "the C and the JSON cannot both go to the standard output" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("option", ["--size", "--assume"])
def test_a_size_of_no_parameter_is_refused(option: str, tmp_path: Path, scaling: Path) -> None:
    done = polysched("c2c", "scaling.c", "-o", "out.c", option, "q=3", folder=tmp_path)
    assert done.returncode == 2
    assert "scaling.c: no parameter q" in done.stderr
    assert not (tmp_path / "out.c").exists()
