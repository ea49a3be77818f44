"""The C programs of the experiment: how each is built, called, and what it computes."""

from __future__ import annotations

from dataclasses import dataclass

FAST = ("-O3", "-march=native")
PLAIN = ("-O2",)


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program.

    Parameters
    ----------
    file : its file without `.c`; the function has the same name.
    data : C at file scope: prototypes take `FUNCTION` for the name, arrays are static.
    prepare : C that fills the arrays; runs before each call that is compared.
    call : C of one call that can be repeated.
    results : arrays to compare, bit for bit.
    flags : for every compiler.
    autodetect : the file has no `#pragma scop`.
    threads : the program itself uses OpenMP, so that compilers without the same runtime are no peers.
    """

    file: str
    data: str
    prepare: str
    call: str
    results: tuple[str, ...]
    flags: tuple[str, ...] = FAST
    autodetect: bool = False
    threads: bool = False


def _axpy(incx: int, incy: int) -> Program:
    return Program(
        file="strided_axpy", data="static double x[60000], y[60000];",
        prepare="for (int i = 0; i < 60000; i++) { x[i] = 1.0 / (1 + i % 7); y[i] = i % 5; }",
        call=f"FUNCTION(10000, 1e-9, x, {incx}, y, {incy});", results=("y",))


def _rows_of_bytes(rows: int) -> Program:
    return Program(
        file="rows_of_bytes", autodetect=True,
        data="static signed char x[1024], w[1024 * 1024]; static float xs[32], ws[32 * 1024], out[1024];",
        prepare="for (int i = 0; i < 1024; i++) x[i] = i % 13 - 6;"
                " for (int i = 0; i < 1024 * 1024; i++) w[i] = i % 11 - 5;"
                " for (int i = 0; i < 32; i++) xs[i] = 1.0f / (1 + i);"
                " for (int i = 0; i < 32768; i++) ws[i] = 0.5f / (1 + i % 9);",
        call=f"FUNCTION(1024, {rows}, 32, out, x, w, xs, ws);", results=("out",))


def _outer_steps(most: int) -> Program:
    return Program(
        file="outer_steps", autodetect=True, data="static int divisors[100001];",
        prepare="for (int i = 0; i <= 100000; i++) divisors[i] = 0;", call=f"FUNCTION({most}, divisors);",
        results=("divisors",))


PROGRAMS = {
    "quantised": Program(
        file="quantised", autodetect=True, threads=True,
        data="static signed char x[1024], w[1024 * 1024]; static float xs[32], ws[32 * 1024], out[1024];",
        prepare="for (int i = 0; i < 1024; i++) x[i] = i % 13 - 6;"
                " for (int i = 0; i < 1024 * 1024; i++) w[i] = i % 11 - 5;"
                " for (int i = 0; i < 32; i++) xs[i] = 1.0f / (1 + i);"
                " for (int i = 0; i < 32768; i++) ws[i] = 0.5f / (1 + i % 9);",
        call="FUNCTION(1024, 1024, 32, out, x, w, xs, ws);", results=("out",)),
    "rows_of_bytes_2": _rows_of_bytes(2),
    "rows_of_bytes_1000": _rows_of_bytes(1000),
    "blocks_of_bytes": Program(
        file="blocks_of_bytes", data="static signed char x[1000], w[100 * 1000]; static int out[100];",
        prepare="for (int i = 0; i < 1000; i++) x[i] = i % 13 - 6;"
                " for (int i = 0; i < 100 * 1000; i++) w[i] = i % 11 - 5;",
        call="FUNCTION(1000, 100, out, x, w);", results=("out",)),
    "rows_of_floats": Program(
        file="rows_of_floats", data="static float x[1000], w[1000 * 1000], out[1000];",
        prepare="for (int i = 0; i < 1000; i++) x[i] = 1.0f / (1 + i % 13);"
                " for (int i = 0; i < 1000 * 1000; i++) w[i] = i % 11 - 5;",
        call="FUNCTION(1000, 1000, out, x, w);", results=("out",)),
    "outer_steps_1000": _outer_steps(1000),
    "outer_steps_100000": _outer_steps(100_000),
    "sparse_rows": Program(
        file="sparse_rows", autodetect=True,
        data="static int p[100001], c[700000]; static double v[700000], x[100000], y[100000];",
        prepare="for (int i = 0; i <= 100000; i++) p[i] = 7 * i;"
                " for (int i = 0; i < 700000; i++) c[i] = (i / 7 + i * 97) % 100000, v[i] = 1.0 / (1 + i % 9);"
                " for (int i = 0; i < 100000; i++) x[i] = i % 7;",
        call="FUNCTION(100000, p, c, v, x, y);", results=("y",)),
    "rows_on_threads": Program(
        file="rows_on_threads", threads=True,
        data="static float a[1 << 20], b[1 << 20], c[1 << 20], out[1 << 10];",
        prepare="for (int i = 0; i < 1 << 20; i++) { a[i] = i % 7; b[i] = 1e-6f * (i % 5); c[i] = 1; }",
        call="FUNCTION(1024, 1024, a, b, c, out);", results=("c", "out")),
    "strided_axpy_1": _axpy(1, 1),
    "strided_axpy_3": _axpy(3, 2),
    "last_and_any": Program(
        file="last_and_any", data="static int S[1000 * 1000], found[2];",
        prepare="for (int i = 0; i < 1000000; i++) S[i] = i * 2654435761u >> 12;",
        call="FUNCTION(1000, 1000, S, found);", results=("found",)),
    "small_square": Program(
        file="small_square", data="static double a[144], x[12], start[144];",
        prepare="for (int i = 0; i < 144; i++) start[i] = i % 13 ? 1.0 / (1 + i) : 20.0;"
                " for (int i = 0; i < 12; i++) x[i] = 0;",
        call="__builtin_memcpy(a, start, sizeof a); FUNCTION(12, a, x);", results=("a", "x")),
    "plain_product": Program(
        file="plain_product", flags=PLAIN, data="static float a[200 * 200], b[200 * 200], c[200 * 200];",
        prepare="for (int i = 0; i < 40000; i++) { a[i] = i % 7; b[i] = 1e-6f * (i % 5); c[i] = 0; }",
        call="FUNCTION(200, a, b, c);", results=("c",)),
    "plain_stencil": Program(
        file="plain_stencil", flags=PLAIN, data="static double a[400 * 400], b[400 * 400];",
        prepare="for (int i = 0; i < 160000; i++) a[i] = i % 7, b[i] = 0;",
        call="FUNCTION(10, 400, a, b);", results=("a", "b")),
    "plain_update": Program(
        file="plain_update", flags=PLAIN, data="static float a[100 * 100], b[100 * 100], c[100 * 100];",
        prepare="for (int i = 0; i < 10000; i++) { a[i] = i % 7; b[i] = i % 5; c[i] = 1; }",
        call="FUNCTION(100, 100, a, b, c);", results=("c",)),
}
