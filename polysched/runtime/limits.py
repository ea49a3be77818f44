"""The limits of this room."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class RuntimeLimits:
    """By the module that asks for them."""

    # serving.py
    most_requests: int = constant(
        1 << 20, unit="requests", source="of one job: a latency is kept of each, 24 MB at most")
    most_seconds: float = constant(
        1e9, unit="s", source="from the start to the last request: some thirty years, which a clock can still tell")
    most_yields: int = constant(
        1 << 16, unit="yields", source="whose times are kept; more are counted only")
    most_workers: int = constant(64, unit="threads", source="first guess: of one machine")
    reset_seconds: float = constant(
        4.3e-5, unit="s", source="of a reset by signal and siglongjmp, median under SCHED_FIFO; shorter tiles yield")
    most_resets: int = constant(
        3, unit="resets", source="of a run in a row, so that it ends; first guess")
    rest_share: float = constant(
        0.07, unit="1", source="of the time that SCHED_FIFO threads take: left to ordinary ones, to which Linux gives "
                               "0.05 of each second in one piece otherwise (sched_rt_runtime_us)")
    rest_every: float = constant(
        0.01, unit="s", source="between two rests of best effort under SCHED_FIFO, of which each is that share")
    # scheduler_source.py
    last_yields: int = constant(
        15, unit="yields", source="whose median tells how long a tile takes: seven that the system held up do not")
    stop_seconds: float = constant(
        0.05, unit="s", source="until the scheduler sees that nobody waits for it: a person does not notice it")
    fifo_priority: int = constant(
        10, unit="priority", source="of who releases requests under SCHED_FIFO, one more than of who runs jobs: above "
                                   "all ordinary threads, below those of the kernel")
    # signals_source.py
    again_seconds: float = constant(
        2e-5, unit="s", source="until a reset that found the run in the C library is tried again; half of one")
    crash_bytes: int = constant(
        1 << 16, unit="bytes", source="of the stack on which a thread tells which job crashed: several times SIGSTKSZ, "
                                      "with room for the registers of AVX-512")
    # dataflow/cluster.py
    most_cluster_workers: int = constant(
        4096, unit="processes", source="first guess; 4 were tried")
    most_losses: int = constant(
        3, unit="losses", source="of a node's process while the node may have run: then its code is to blame")
    most_ran: int = constant(
        1 << 20, unit="nodes", source="whose times a cluster keeps: some 100 MB")
    store_bytes: int = constant(
        1 << 30, unit="bytes", source="of the object store of a cluster on this machine; Ray spills to the disk "
                                      "beyond it")
    inline_bytes: int = constant(
        100 * 1024, unit="bytes", source="Ray's `max_direct_call_object_size`: larger values go through the object "
                                         "store")
    spare_seconds: float = constant(
        5.0, unit="s", source="that a missing spare process waits for idle workers: its start takes a core a second")
    # dataflow/sent_ahead.py
    ahead_seconds: float = constant(
        0.06, unit="s", source="of work that lies with a worker: news of an end is back after 1 to 10 ms, the driver "
                               "beside busy cores included")
    fewest_ahead: int = constant(2, unit="nodes", source="with a worker, however long: one that runs, and the next")
    unknown_ahead: int = constant(
        16, unit="nodes", source="with a worker, of code that never ran; first guess")
    # dataflow/ray_workers.py
    answer_seconds: float = constant(
        10.0, unit="s", source="until the head of a cluster takes a connection; first guess")
    calls_at_once: int = constant(
        3, unit="threads", source="of a worker: for the node that runs, inputs of the next, and values of the last")
    switch_seconds: float = constant(
        5e-4, unit="s", source="that a node in Python may hold up packing the values of the last; Python has 5e-3")


LIMITS = RuntimeLimits()
