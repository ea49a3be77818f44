"""Functions of MLIR compute what they say, round trips change nothing, and everything else is refused in words."""

import random
import re

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c.mlir import affine_text
from polysched.errors import PolyschedError, SourceSyntaxError, UnsupportedScopError, UsageError
from polysched.scheduling import original, pluto
from polysched.scop import all_from_mlir, from_c_text, from_mlir
from polysched.scop.body import Assign
from polysched.scop.interpreter import execute
from polysched.scop.mlir_frontend import begins_as_mlir
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.emit_c.mlir.test_affine_function import JACOBI, NAMES, PRODUCT, TRIANGLE, scop_of
from tests.emit_c.mlir.tool import needs_mlir, through_mlir
from tests.scop.mlir_frontend.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_computes_what_it_says(name: str) -> None:
    program = PROGRAMS[name]
    given, expected = program.arrays(), program.arrays()
    execute(from_mlir(program.text), program.sizes, given)
    program.expected(expected)
    for array in expected:
        assert np.array_equal(given[array], expected[array]), array


@needs_mlir
@pytest.mark.parametrize("options", [(), ("--mlir-print-op-generic",), ("--canonicalize", "--affine-loop-normalize")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_behind_mlir_opt(name: str, options: tuple[str, ...]) -> None:
    program = PROGRAMS[name]
    text = through_mlir(program.text, *options)
    if '"affine.parallel"' in text:
        with pytest.raises(UnsupportedScopError, match=r"MLIR:\d+: affine.parallel is read in its own form alone"):
            from_mlir(text)
        return
    scop = from_mlir(text)
    given, expected = program.arrays(), program.arrays()
    program.expected(expected)
    renamed = dict(zip((a.name for a in scop.arrays if a.storage.value == "argument"),
                       (a.name for a in from_mlir(program.text).arrays if a.storage.value == "argument"), strict=True))
    values = {new: given[old] for new, old in renamed.items()}
    execute(scop, dict(zip((p.name for p in scop.parameters), program.sizes.values(), strict=True)), values)
    for new, old in renamed.items():
        assert np.array_equal(values[new], expected[old]), old


@pytest.mark.parametrize("tiles", ["off", 4])
@pytest.mark.parametrize("scheduler", [original, pluto])
@pytest.mark.parametrize("program", [PRODUCT, JACOBI, TRIANGLE, NAMES])
def test_a_program_in_c_comes_back(program: tuple[str, str], scheduler: object, tiles: object) -> None:
    assert callable(scheduler)
    scop = scop_of(*program)
    read = from_mlir(affine_text(tile(scheduler(analyse(scop)), TilingOptions(sizes=tiles, register=False))))
    assert [p.name for p in read.parameters] == [p.name for p in scop.parameters]
    assert [(a.name, a.dtype, len(a.extents)) for a in read.arrays if a.storage.value == "argument"] == [
        (a.name, a.dtype, len(a.extents)) for a in scop.arrays]
    sizes = {p.name: {"t_end": 3}.get(p.name, 7) for p in scop.parameters}
    generator = np.random.default_rng(3)
    given = {a.name: generator.integers(0, 4, (7,) * len(a.extents)).astype(float) for a in scop.arrays}
    expected = {name: array.copy() for name, array in given.items()}
    execute(scop, sizes, expected)
    execute(read, sizes, given)
    for name, array in given.items():
        assert np.array_equal(array, expected[name]), name


@pytest.mark.parametrize("program", [PRODUCT, JACOBI, NAMES])
def test_a_second_round_trip_writes_the_same(program: tuple[str, str]) -> None:
    def written(scop: object) -> str:
        schedule = original(analyse(scop))
        return affine_text(TiledSchedule(schedule=schedule, tree=schedule.tree))

    text = written(from_mlir(written(scop_of(*program))))
    assert written(from_mlir(text)) == text


def test_an_update_stays_one() -> None:
    schedule = original(analyse(scop_of(*PRODUCT)))
    scop = from_mlir(affine_text(TiledSchedule(schedule=schedule, tree=schedule.tree)))
    (item,) = scop.statements[0].body
    assert isinstance(item, Assign)
    assert item.op == "+"


def test_types_of_integers() -> None:
    scop = from_mlir("""func.func @f(%x: memref<4xi8>, %y: memref<4xi32>, %n: i32) {
      %two = arith.constant 2 : i32
      affine.for %i = 0 to 4 {
        %a = affine.load %x[%i] : memref<4xi8>
        %u = arith.extui %a : i8 to i32
        %s = arith.extsi %a : i8 to i32
        %p = arith.muli %u, %s : i32
        %q = arith.addi %p, %n : i32
        %r = arith.shrui %q, %two : i32
        %m = arith.maxui %q, %s : i32
        %c = arith.cmpi ult, %s, %m : i32
        %d = arith.select %c, %q, %r : i32
        affine.store %d, %y[%i] : memref<4xi32>
      }
      return
    }""")
    x, y = np.array([-3, 0, 5, 7], dtype=np.int8), np.zeros(4, dtype=np.int32)
    execute(scop, {"n": 10}, {"x": x, "y": y})
    u, s = x.astype(np.uint8).astype(np.int32), x.astype(np.int32)
    q = u * s + np.int32(10)
    m = np.maximum(q.astype(np.uint32), s.astype(np.uint32))
    r = (q.astype(np.uint32) >> np.uint32(2)).astype(np.int32)
    assert np.array_equal(y, np.where(s.astype(np.uint32) < m, q, r))


def test_names_are_those_of_c() -> None:
    scop = from_mlir("func.func @int(%for: memref<7xf64>, %exists: index) {\naffine.for %while = 0 to %exists {\n"
                     "%0 = affine.load %for[%while] : memref<7xf64>\n"
                     "affine.store %0, %for[0] : memref<7xf64>\n}\nreturn}")
    assert (scop.name, scop.parameters[0].name, scop.arrays[0].name) == ("int_1", "exists_1", "for_1")


def test_a_subscript_from_data_stands_twice() -> None:
    scop = from_mlir("""func.func @f(%k: memref<3xi32>, %A: memref<4x4xf64>, %x: memref<3xf64>) {
      affine.for %i = 0 to 3 {
        %a = affine.load %k[%i] : memref<3xi32>
        %j = arith.index_cast %a : i32 to index
        %d = memref.load %A[%j, %j] : memref<4x4xf64>
        affine.store %d, %x[%i] : memref<3xf64>
      }
      return
    }""")
    x = np.zeros(3)
    execute(scop, {}, {"k": np.array([2, 0, 3], dtype=np.int32), "A": np.arange(16.0).reshape(4, 4), "x": x})
    assert x.tolist() == [10, 0, 15]


def test_several_functions() -> None:
    text = "\n".join(PROGRAMS[name].text for name in ("row_sums", "conditions"))
    assert [scop.name for scop in all_from_mlir(text)] == ["row_sums", "conditions"]
    with pytest.raises(UsageError, match="several functions\n  witness: row_sums, conditions"):
        from_mlir(text)


def test_a_function_of_a_module_as_polygeist_writes_it(caplog: pytest.LogCaptureFixture) -> None:
    """Globals and functions of other dialects stand beside the region."""
    text = """module attributes {llvm.triple = "x"} {
      llvm.mlir.global internal constant @str0("}{ (%s\\0A\\00") // }
      llvm.func @printf(!llvm.ptr, ...) -> i32
      memref.global "private" @g : memref<2xi32> = dense<[1, 2]>
      func.func @main(%A: memref<?xf64>, %n: index) {
        %c0 = arith.constant 0 : index
        scf.while : () -> () { // }
          "x.y"() {s = "}"} : () -> ()
        }
        return
      }
      func.func private @kernel(%A: memref<?xf64>, %n: index) {
        affine.for %i = 0 to %n {
          %v = affine.load %A[%i] : memref<?xf64>
          affine.store %v, %A[%i] : memref<?xf64>
        }
        return
      }
    }"""
    assert [scop.name for scop in all_from_mlir(text)] == ["kernel"]
    assert "a function is left out: MLIR:7: no such operation is read" in caplog.text
    assert from_mlir(text, function="kernel").statements[0].line == 15
    with pytest.raises(SourceSyntaxError, match=r"MLIR:7: no such operation is read\n  witness: `scf\.while`"):
        from_mlir(text, function="main")
    with pytest.raises(UsageError, match="no function other\n  witness: its functions are kernel, main"):
        from_mlir(text, function="other")


@pytest.mark.parametrize("head", ["builtin.module {", "module {", '"builtin.module"() ({\nmodule {'])
def test_what_cannot_be_read_is_left_out_of_any_module(head: str) -> None:
    text = f"""{head}
      func.func @"not this"() {{
        scf.while : () -> () {{
        }}
        return
      }}
      func.func @kernel(%A: memref<2xf64>, %v: f64) {{
        affine.for %i = 0 to 2 {{
          affine.store %v, %A[%i] : memref<2xf64>
        }}
        return
      }}
    }}""" + ("}) : () -> ()" if head.startswith('"') else "")
    assert [scop.name for scop in all_from_mlir(text)] == ["kernel"]
    with pytest.raises(SourceSyntaxError, match="no such operation is read"):
        from_mlir(text, function="not this")


IN_A_MODULE_OF_A_GPU = """gpu.module @device attributes {a = "func.func @text {"} {
  // func.func @said() {
  func.func private @declared(f64)
  gpu.func @kernel() kernel { gpu.return }
  func.func @inside(%A: memref<2xf64>, %v: f64) {
    affine.store %v, %A[0] : memref<2xf64>
    return
  }
}
"""


def test_a_function_inside_a_module_of_another_dialect_is_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    message = r"MLIR:5: a function stands inside gpu\.module, which is not read\n  witness: `?@inside"
    with pytest.raises(SourceSyntaxError, match=message):
        from_mlir(IN_A_MODULE_OF_A_GPU)
    beside = "func.func @f(%A: memref<2xf64>, %v: f64) {\naffine.store %v, %A[0] : memref<2xf64>\nreturn\n}\n"
    assert [scop.name for scop in all_from_mlir(IN_A_MODULE_OF_A_GPU + beside)] == ["f"]
    assert caplog.text.count("a function is left out") == caplog.text.count("inside gpu.module") == 1
    with pytest.raises(SourceSyntaxError, match=message):
        from_mlir(IN_A_MODULE_OF_A_GPU + beside, function="inside")


def test_functions_of_one_name_in_several_modules_are_all_read(caplog: pytest.LogCaptureFixture) -> None:
    kernel = "func.func @f(%A: memref<EXTENTxf64>, %v: f64) { affine.store %v, %A[0] : memref<EXTENTxf64> return }"
    modules = [f"module {{\n{kernel.replace('EXTENT', extent)}\n}}\n" for extent in "234"]
    text = "".join(modules).replace("affine.store %v, %A[0] : memref<4", "scf.store %v, %A[0] : memref<4")
    assert [str(scop.array("A").extents[0]) for scop in all_from_mlir(text)] == ["{ [(2)] }", "{ [(3)] }"]
    assert caplog.text.count("a function is left out") == 1


def test_text_of_before_mlir_15_is_told_the_spelling_of_today() -> None:
    with pytest.raises(SourceSyntaxError, match=r"witness: `func`\n  hint: .*spells it `func\.func`"):
        from_mlir("func @f(%A: memref<2xf64>) {\n}")


@pytest.mark.parametrize(("text", "expected"), [
    ("// c\n\n#map = affine_map<() -> (0)>", True), ("module {", True), ("func.func @f", True),
    ("builtin.module {", True), ('"builtin.module"() ({', True),
    ("void f(int n) {", False), ("#include <math.h>", False), ("", False),
])
def test_how_a_text_begins(text: str, expected: bool) -> None:
    assert begins_as_mlir(text) is expected


HEAD = "func.func @f(%n: index, %A: memref<8xf64>, %x: f64) {\n"


@pytest.mark.parametrize(("text", "message"), [
    ("", "no function with a body"),
    (HEAD + "return\n}", "the function stores nothing"),
    ("func.func @f(%t: tensor<4xf32>) {\nreturn\n}", "MLIR:1: a value of type tensor<4xf32>"),
    ("func.func @f(%t: memref<4xf32, affine_map<(d0) -> (d0 + 1)>>) {\nreturn\n}", "a value of type memref"),
    ("func.func @f() -> f32 {\nreturn\n}", "gives a result"),
    (HEAD + "affine.store %y, %A[0] : memref<8xf64>\n}", "MLIR:2: %y, which is defined elsewhere, is no value here"),
    (HEAD + "affine.store %x, %B[0] : memref<8xf64>\n}", "is no memref here"),
    (HEAD + "affine.store %x, %A[0, 1] : memref<8xf64>\n}", "has 1 dimensions, not 2"),
    (HEAD + "affine.store %x, %A[9] : memref<8xf64>\n}", r"outside its extents\n  witness: A\[9\]"),
    (HEAD + "affine.for %i = 0 to 8 step 0 {\n}\n}", "no positive step"),
    (HEAD + "%m = arith.muli %n, %n : index\naffine.for %i = 0 to %m {\naffine.store %x, %A[%i] : memref<8xf64>\n}\n}",
     "MLIR:3: a bound or index is no affine function"),
    (HEAD + "%s = math.ctlz %x : f64\n}", "no such operation is read"),
    (HEAD + "%s = arith.bitcast %x : f64 to i64\naffine.store %x, %A[0] : memref<8xf64>\n}", "MLIR:2: arith.bitcast"),
    (HEAD + "%s = arith.truncf %x : f64 to f32\naffine.store %s, %A[0] : memref<8xf64>\n}", "another type is stored"),
    (HEAD.replace("{", "attributes {extents = [1]} {") + "return\n}", "has no map"),
    (HEAD.replace("{", "attributes {extents = [affine_map<()[s] -> (s, s)>]} {") + "return\n}",
     "2 extents for a value of type memref<8xf64>"),
    (HEAD + '%s = "arith.maxf"(%x, %x) : (f64, f64) -> f64\n}', "MLIR:2: arith.maxf"),
    (HEAD + '%s = "arith.addf"(%x) : (f64) -> f64\n}', "arith.addf of 1 operands"),
    (HEAD + "%s = arith.addf %x, %x, %x : f64\n}", "arith.addf of 3 operands"),
    (HEAD + '"arith.constant"() {value = 1 : i32} : () -> ()\n}', "arith.constant with 0 results"),
    (HEAD + '%s = "memref.dim"() : () -> index\n}', "memref.dim has two operands"),
    (HEAD + "%r = affine.if affine_set<(d) : (d >= 0)>(%n) -> f64 {\naffine.yield %x : f64\n}\n}",
     "MLIR:2: a region gives no value"),
    (HEAD + '"affine.for"() {operandSegmentSizes = ["a", 0, 0]} : () -> ()\n}', "other bounds than operands"),
    ("func.func @f(%A: memref<8xf32>) {\n affine.for %i = 0 to 8 {\n %v = affine.load %A[%i] : memref<8xf64>\n"
     " affine.store %v, %A[%i] : memref<8xf32>\n }\n return\n}", "MLIR:3: %A has elements of type float32, not f64"),
    ("func.func @f(%A: memref<8xf32>, %B: memref<8xf64>) {\n affine.for %i = 0 to 8 {\n"
     " %v = affine.load %A[%i] : memref<8xf32>\n %w = arith.addf %v, %v : f64\n"
     " affine.store %w, %B[%i] : memref<8xf64>\n }\n return\n}", "MLIR:4: %v is of type float32, not f64"),
    ("func.func @f(%A: memref<8xi32>) {\n affine.for %i = 0 to 8 {\n %v = affine.load %A[%i] : memref<8xi32>\n"
     " %w = arith.addf %v, %v : i32\n affine.store %w, %A[%i] : memref<8xi32>\n }\n return\n}",
     "arith.addf of int32, int32"),
])
def test_refusals(text: str, message: str) -> None:
    with pytest.raises((UnsupportedScopError, UsageError, SourceSyntaxError), match=message):
        from_mlir(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_damaged_texts_are_refused_or_read(name: str) -> None:
    text, generator = PROGRAMS[name].text, random.Random(name)
    pieces = re.findall(r"[\w.%#@]+|\s+|[^\w\s]", text)
    for _ in range(120):
        at, other = generator.randrange(len(pieces)), generator.randrange(len(pieces))
        kind = generator.choice(["cut", "drop", "double", "replace"])
        changed = {"cut": pieces[:at], "drop": [*pieces[:at], *pieces[at + 1:]],
                   "double": [*pieces[:at], pieces[other], *pieces[at:]],
                   "replace": [*pieces[:at], generator.choice("{}()<>[],:=%-"), *pieces[at + 1:]]}[kind]
        assert "isl_" not in refusal_of("".join(changed))   # and nothing but a refusal is raised


def refusal_of(text: str) -> str:
    try:
        from_mlir(text)
    except PolyschedError as error:
        return str(error)
    return ""


def test_c_is_no_mlir() -> None:
    with pytest.raises(SourceSyntaxError, match="MLIR:1: no such operation"):
        from_mlir("void f() {}")
    assert from_c_text("void f(double *a) {\n#pragma scop\na[0] = 1;\n#pragma endscop\n}").name == "f"


@needs_mlir
@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)])
def test_places_in_other_files_are_passed(flags: tuple[str, ...]) -> None:
    text = through_mlir(PROGRAMS["row_sums"].text, "--mlir-print-debuginfo", *flags)
    assert "#loc" in text
    assert from_mlir(text).statements[0].domain.is_equal(from_mlir(PROGRAMS["row_sums"].text).statements[0].domain)
