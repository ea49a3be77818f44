"""A child that does one bad thing, by request."""

import ctypes
import os
import subprocess
import sys
import time

from polysched.measure.processes.child_side import start


def main() -> None:
    request, reporter = start(sys.argv)
    time.sleep(1.0 if request["do"] == "start late" else 0.0)
    reporter.phase("misbehaving")
    match request["do"]:
        case "answer":
            reporter.report(ready=True)
            with os.fdopen(request["questions"]) as questions:
                for line in questions:
                    if "sleep" in line:
                        time.sleep(600)
                    if "crash" in line:
                        ctypes.string_at(8)
                    reporter.report(answered=line.strip(), process=os.getpid())
            reporter.report(end="finished")
        case "finish":
            reporter.report(value=request["value"])
            reporter.report(end="finished")
        case "start late":
            reporter.report(end="finished")
        case "crash":
            ctypes.string_at(8)
        case "abort":
            os.abort()
        case "hang":
            time.sleep(600)
        case "hang with child":
            orphan = subprocess.Popen(["sleep", "600"])
            reporter.report(orphan=orphan.pid)
            time.sleep(600)
        case "leave a child":
            orphan = subprocess.Popen(["sleep", "600"])
            reporter.report(orphan=orphan.pid)
            reporter.report(end="finished")
        case "slow but alive":
            for step in range(6):
                time.sleep(0.2)
                reporter.report(step=step)
            reporter.report(end="finished")
        case "eat":
            chunks = []
            while True:
                chunks.append(bytearray(1 << 24))
        case "malloc and crash":
            libc = ctypes.CDLL(None)
            libc.malloc.restype = ctypes.c_void_p
            libc.malloc.argtypes = [ctypes.c_size_t]
            while True:
                ctypes.memset(libc.malloc(1 << 24) or 8, 1, 1 << 24)
        case "exit":
            print("out of cheese", file=sys.stderr)
            sys.exit(7)
        case "chatter":
            while True:
                os.write(2, b"noise " * 1000)
        case "burn":
            while True:
                pass


if __name__ == "__main__":
    main()
