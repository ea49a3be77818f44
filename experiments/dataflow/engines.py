"""The same chain of calls on Ray and on Dask, by their own interfaces: what each engine costs by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np

STEP_SECONDS = 0.2
STORE_BYTES = 1 << 28


def busy_step() -> Callable[[np.ndarray, float], np.ndarray]:
    """A step: so much time, then the next values.  It stands inside, since workers cannot import this file."""
    def busy(values: np.ndarray, seconds: float) -> np.ndarray:
        import time
        end = time.time() + seconds
        while time.time() < end:
            pass
        return values + 1
    return busy


def on_ray(steps: int) -> dict[str, Any]:
    """Times of Ray's actors; after a kill it starts the process anew, and repeats the call by itself."""
    from polysched.runtime.dataflow.ray_workers import ray_module
    ray = ray_module()
    busy, began = busy_step(), time.time()
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=STORE_BYTES, log_to_driver=False,
             logging_level="ERROR")

    class Worker:
        def step(self, values: np.ndarray, seconds: float) -> np.ndarray:
            return busy(values, seconds)

        def pid(self) -> int:
            import os
            return os.getpid()

    kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(Worker)
    workers = [kind.remote() for _ in range(2)]
    ray.get([w.pid.remote() for w in workers])
    start = time.time() - began

    pid = ray.get(workers[1].pid.remote())
    found = chained(steps, lambda x, seconds, at: workers[at % 2].step.remote(x, seconds), lambda x: ray.wait([x]),
                    ray.get, lambda: os.kill(pid, signal.SIGKILL))
    ray.shutdown()
    return {"start": start, **found}


def on_dask(steps: int) -> dict[str, Any]:
    """Times of Dask's tasks; after a kill it computes the lost values again by itself, on any worker."""
    import dask
    dask.config.set({"logging.distributed": "error"})
    from distributed import Client, LocalCluster, wait
    busy, began = busy_step(), time.time()
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            Client(cluster) as client:
        pids = client.run(os.getpid)
        workers = sorted(pids)
        start = time.time() - began

        def send(x: Any, seconds: float, at: int) -> Any:
            return client.submit(busy, x, seconds, pure=False, workers=[workers[at % 2]], allow_other_workers=True)
        found = chained(steps, send, wait, lambda x: x.result(), lambda: os.kill(pids[workers[1]], signal.SIGKILL))
    return {"start": start, **found}


def chained(steps: int, send: Callable[[Any, float, int], Any], wait: Callable[[Any], Any],
            get: Callable[[Any], Any], kill: Callable[[], None]) -> dict[str, Any]:
    """Milliseconds a step for small and large values, one by one and ahead; seconds that a kill costs."""
    told: dict[str, Any] = {}
    for name, size in (("small", 1), ("large", 1 << 17)):
        for ahead in (False, True, False, True):   # the first two warm up
            began, x = time.time(), np.zeros(size)
            for at in range(steps):
                x = send(x, 0.0, at)
                if not ahead:
                    wait(x)
            sent = time.time() - began
            values = get(x)
            told[f"{name}_{'ahead' if ahead else 'one_by_one'}_ms"] = 1e3 * (time.time() - began) / steps
            told[f"{name}_right"] = bool((values == steps).all())
            if ahead:
                told[f"{name}_dispatch_ms"] = 1e3 * sent / steps
    seconds = []
    for killed in (False, True):
        began, x = time.time(), np.zeros(1 << 17)
        for at in range(20):
            x = send(x, STEP_SECONDS, at)
        if killed:
            time.sleep(5.5 * STEP_SECONDS)
            kill()
        told["killed_right"] = bool((get(x) == 20).all())
        seconds.append(time.time() - began)
    return {**told, "plain_seconds": seconds[0], "killed_seconds": seconds[1],
            "kill_costs_steps": (seconds[1] - seconds[0]) / STEP_SECONDS}
