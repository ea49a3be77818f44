"""The small process between a measurement and its child: it knows the child's own peak of resident memory.

Linux counts into the peak of a new process what its parent had resident when it was started (`exec` folds the
high-water mark of the replaced memory into `ru_maxrss`), so a large parent would make every child look large. This
process is a bare interpreter of a few MiB, run as `python -I -S launcher.py FILE COMMAND...`: it starts the command,
writes its number to FILE, waits for it, adds its peak in bytes, and ends as the command ended, by the same status or
the same signal. It imports nothing but what the interpreter brings.

When the measuring process is killed, the kernel kills this one, and then the command, which asked for the same
(`child_side.limit_this_process`): nothing goes on computing that nobody waits for.
"""

import ctypes
import os
import resource
import signal
import sys


def main(arguments: list[str]) -> None:
    """Run the command that follows the name of the file."""
    name, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    with open(name, "w") as file:
        child = os.posix_spawn(command[0], command, os.environ)
        print(child, file=file, flush=True)
        _, status, usage = os.wait4(child, 0)
        print(usage.ru_maxrss * 1024, file=file)
    returned = os.waitstatus_to_exitcode(status)
    if returned >= 0:
        sys.exit(returned)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -returned not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(-returned, signal.SIG_DFL)
    os.kill(os.getpid(), -returned)


if __name__ == "__main__":
    main(sys.argv[1:])
