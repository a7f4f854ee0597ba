"""Runs a program for the scripts in this folder and measures what it took."""
import json
import os
import subprocess
import sys
import tempfile

# The kernel counts the memory of a parent as the peak of its child, so a small process starts the program.
STARTER = """
import json, os, signal, sys, time
begin = time.monotonic()
child = os.fork()
if child == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, status], file)
"""


def measured(command, limit=None):
    """Returns seconds, processor seconds and the peak resident bytes of the largest process; ends if the program fails.

    After `limit` seconds the program is killed, and its seconds are at least the limit.
    """
    command = [str(word) for word in command]
    with tempfile.TemporaryDirectory() as folder:
        figures, said = os.path.join(folder, "figures"), os.path.join(folder, "said")
        with open(said, "w") as file:
            subprocess.run([sys.executable, "-I", "-S", "-c", STARTER, figures, str(limit or 0), *command],
                           stdout=file, stderr=file, check=True)
        with open(figures) as file:
            seconds, processor, peak, status = json.load(file)
        if status != 0 and not (limit and seconds >= limit):
            with open(said) as file:
                raise SystemExit(f"{' '.join(command)} failed:\n{file.read()[-4000:]}")
    return seconds, processor, peak
