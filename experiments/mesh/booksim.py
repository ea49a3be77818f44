"""Runs BookSim2 on an 8x8 mesh and writes `booksim.json`: latencies below saturation, to check predictions against.

    python experiments/mesh/booksim.py                          the recorded figures beside predictions
    python experiments/mesh/booksim.py --make CHECKOUT          builds BookSim2 there (flex, bison, g++), and runs it

CHECKOUT is a clone of https://github.com/booksim/booksim2 at revision 28f43299.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from polysched.mesh import MeshTarget
from polysched.mesh.contention import Router, packet_latency

FILE = Path(__file__).with_name("booksim.json")
SIDE = 8
RATES = {"uniform": (0.02, 0.1, 0.2, 0.3, 0.35, 0.38), "transpose": (0.02, 0.05, 0.1, 0.12),
         "bitcomp": (0.02, 0.1, 0.15, 0.2), "neighbor": (0.02, 0.2, 0.4, 0.6), "tornado": (0.02, 0.1, 0.15, 0.2)}
CONFIGURATION = f"""\
topology = mesh;
k = {SIDE};
n = 2;
routing_function = dor;
num_vcs = 8;
vc_buf_size = 8;
wait_for_tail_credit = 0;
vc_allocator = islip;
sw_allocator = islip;
alloc_iters = 2;
credit_delay = 2;
routing_delay = 0;
vc_alloc_delay = 1;
sw_alloc_delay = 1;
st_final_delay = 1;
input_speedup = 1;
output_speedup = 1;
internal_speedup = 1.0;
sim_type = latency;
warmup_periods = 3;
sample_period = 2000;
sim_count = 1;
packet_size = 1;
seed = 1;
"""


def destinations(traffic: str) -> np.ndarray:
    """The share of a core's packets that go to every core, shape (cores, cores)."""
    cores = SIDE * SIDE
    if traffic == "uniform":
        return np.full((cores, cores), 1 / cores)
    found = np.zeros((cores, cores))
    for core in range(cores):
        row, column = divmod(core, SIDE)
        found[core, {"transpose": column * SIDE + row, "bitcomp": cores - 1 - core,
                     "neighbor": (row + 1) % SIDE * SIDE + (column + 1) % SIDE,
                     "tornado": (row + 3) % SIDE * SIDE + (column + 3) % SIDE}[traffic]] = 1
    return found


def run(program: Path, traffic: str, rate: float) -> dict[str, Any]:
    """One simulation: its average latency, and hops."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mesh"
        file.write_text(CONFIGURATION)
        text = subprocess.run([program, file, f"traffic={traffic}", f"injection_rate={rate}"], capture_output=True,
                              text=True, check=False, timeout=120).stdout   # its exit status is 255 where all went well
    overall = text[text.rindex("Overall Traffic Statistics"):]
    return {"traffic": traffic, "rate": rate, **{
        name: float(re.findall(rf"^{said} = ([\d.]+)", overall, re.MULTILINE)[0])
        for name, said in (("latency", "Packet latency average"), ("hops", "Hops average"))}}


def router(runs: list[dict[str, Any]]) -> Router:
    """A router's cycles, from the runs at the lowest rate of the traffics with the fewest and the most hops."""
    least = {r["traffic"]: r for r in runs if r["rate"] == min(RATES[r["traffic"]])}
    near, far = least["neighbor"], least["bitcomp"]
    hop = round((far["latency"] - near["latency"]) / (far["hops"] - near["hops"]))
    return Router(hop=hop, ends=round(near["latency"] - hop * (near["hops"] - 1)))


def compared(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Each run beside its prediction."""
    target, own = MeshTarget(rows=SIDE, columns=SIDE), router(recorded["runs"])
    found = []
    for each in recorded["runs"]:
        told = packet_latency(each["rate"] * destinations(each["traffic"]), target, own)
        found.append({**each, "predicted": told.cycles, "busiest": told.busiest,
                      "error": told.cycles / each["latency"] - 1})
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--make", type=Path)
    arguments = parser.parse_args()
    if arguments.make:
        source = arguments.make / "src"
        subprocess.run(["make", "-j2"], cwd=source, check=True, stdout=subprocess.DEVNULL)
        revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=source, check=True, capture_output=True,
                                  text=True).stdout.strip()
        runs = [run(source / "booksim", traffic, rate) for traffic, rates in RATES.items() for rate in rates]
        FILE.write_text(json.dumps({"simulator": "https://github.com/booksim/booksim2", "revision": revision,
                                    "configuration": CONFIGURATION, "runs": runs}, indent=1) + "\n")
    for each in compared(json.loads(FILE.read_text())):
        print(f"{each['traffic']:10} {each['rate']:.2f}  busiest {each['busiest']:.2f}  measured {each['latency']:7.2f}"
              f"  predicted {each['predicted']:7.2f}  {100 * each['error']:+.1f}%")


if __name__ == "__main__":
    main()
