"""The chunks of a campaign, some at a time: a stop ends their children at once, and what was found is told first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from polysched.measure.processes.isolation import Stop

Seeds = TypeVar("Seeds")
Result = TypeVar("Result")


def run_chunks(chunks: Sequence[Seeds], check: Callable[[Seeds, Stop], Iterable[Result]], *, jobs: int,
               on_result: Callable[[Result], None] | None = None) -> list[Result]:
    """The results of all chunks, in their order.

    Parameters
    ----------
    check : gives the results of a chunk as they come; behind a stop it ends with those that its child had reported.
    jobs : chunks at a time.
    on_result : called for every result as its chunk ends.

    Raises
    ------
    KeyboardInterrupt, SystemExit : as in the middle of it, behind `on_result` of everything that was found.
    """
    found: list[list[Result]] = [[] for _ in chunks]
    told, heard, stop = 0, 0, Stop()

    def run(number: int) -> None:
        if not stop.is_set():
            found[number].extend(check(chunks[number], stop))

    def tell(number: int) -> None:
        nonlocal told, heard
        while told <= number:
            for result in found[told][heard:]:
                heard += 1   # first: what a stop interrupts is not told twice
                if on_result is not None:
                    on_result(result)
            told, heard = told + 1, 0

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run, number) for number in range(len(chunks))]
        try:
            for number, future in enumerate(futures):
                future.result()
                tell(number)
        except BaseException as error:   # raised again, when no child runs any more
            stop.set()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                tell(len(chunks) - 1)
            raise
        finally:
            stop.close()
    return [result for chunk in found for result in chunk]
