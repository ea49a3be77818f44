"""The small process between a measurement and its child: it knows the child's own peak of resident memory.

Linux counts into the peak of a new process what its parent had resident when it was started (`exec` folds the
high-water mark of the replaced memory into `ru_maxrss`), so a large parent would make every child look large. This
process is a bare interpreter of a few MiB, run as `python -I -S launcher.py PEAK_FILE COMMAND...`: it starts the
command, waits for it, writes the command's peak in bytes to PEAK_FILE and ends as the command ended, by the same status
or the same signal. It imports nothing but what the interpreter brings.
"""

import os
import resource
import signal
import sys


def main(arguments: list[str]) -> None:
    """Run the command that follows the name of the file."""
    peak_file, *command = arguments
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    with open(peak_file, "w") as file:
        file.write(str(usage.ru_maxrss * 1024))
    returned = os.waitstatus_to_exitcode(status)
    if returned >= 0:
        sys.exit(returned)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -returned not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(-returned, signal.SIG_DFL)
    os.kill(os.getpid(), -returned)


if __name__ == "__main__":
    main(sys.argv[1:])
