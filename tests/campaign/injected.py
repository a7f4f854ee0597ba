"""Fails one system call: the Nth write, read, sync, rename, mapping, allocation and so on.

Crashes of third-party libraries that do not check a result are counted separately and listed below the campaign's
table."""

import collections
import os
from pathlib import Path

from workbench import leftovers, whole

TITLE = "injected faults"
ERRORS = {
    "open": ["EIO", "EMFILE", "ENOMEM", "EINTR"],
    "close": ["EIO", "EINTR"],
    "read": ["EIO", "EINTR", "short"],
    "pread": ["EIO", "EINTR", "short"],
    "write": ["EIO", "ENOSPC", "EINTR", "short"],
    "pwrite": ["EIO", "ENOSPC", "EINTR", "short"],
    "fwrite": ["EIO", "ENOSPC", "short"],
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "rename": ["EIO", "ENOSPC"],
    "mkdir": ["EIO", "ENOSPC"],
    "mmap": ["ENOMEM"],
    "malloc": ["ENOMEM"],
    "thread": ["EAGAIN"],
    "fallocate": ["EIO", "ENOSPC", "EINTR"],
}
# Calls that may fail permanently; fwrite is not among them because messages need it. EINTR is limited to 100 in a row:
# no kernel interrupts every call, and libstdc++ would retry for ever.
LASTING = {"write", "fsync", "rename", "open", "thread", "mkdir", "pwrite"}
died_in = collections.Counter()  # number of crashes per library
COMMANDS = ["run", "run", "train", "predict", "evaluate", "report", "phantom", "check", "preview"]


def counts(bench, command):
    """Returns how often the command makes each call."""
    folder = bench.trial_folder()
    bench.call(bench.commands()[command][0], folder,
               {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT_COUNTS": str(folder / "counts")})
    return {name: int(count) for name, count in (line.split() for line in (folder / "counts").read_text().splitlines())}


def judged(outcome, kind, error, command, bench, folder):
    """Checks that errors are reported as the right kind and that a success lost nothing."""
    complaints = outcome.complaints(promised={0, 1, 3, 4}, tables=command == "check")
    if outcome.code == 3 and error in ("ENOMEM", "ENOSPC", "EMFILE"):
        complaints.append(f"{error} of {kind} is told as damaged data: {outcome.stderr[-300:]!r}")
    if outcome.code == 4 and error == "EIO":
        complaints.append(f"{error} of {kind} is told as a lack of room: {outcome.stderr[-300:]!r}")
    if outcome.code == 0 and not complaints:
        allowed = "warning: " in outcome.stderr  # a warning explains what was skipped
        if not allowed:
            complaints += bench.differences(command, folder, outcome.stdout)
    return complaints


def trial(bench, random):
    command = random.choice(COMMANDS)
    calls = {kind: count for kind, count in bench.once(f"counts {command}", lambda: counts(bench, command)).items() if count > 0}
    kind = random.choice(sorted(calls))
    error, number = random.choice(ERRORS[kind]), random.randint(1, calls[kind])
    lasting = "" if kind not in LASTING or error == "short" or random.random() < 0.75 else "x100" if error == "EINTR" else "+"
    folder, fault = bench.trial_folder(), f"{kind}:{number}{lasting}:{error}"
    mark = folder / "mark"
    outcome = bench.call(bench.commands()[command][0], folder,
                         {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT": fault, "VOXSWAP_FAULT_MARK": str(mark)})
    reached, caller = mark.exists(), mark.read_text() if mark.exists() else ""
    if reached:
        os.unlink(mark)
    if outcome.code is not None and outcome.code < 0 and caller != Path(bench.program).name:
        died_in[caller] += 1
        outcome = None
    complaints = whole(folder)
    if outcome is not None:
        complaints += judged(outcome, kind, error, command, bench, folder) + leftovers(folder)
    if not complaints and (outcome is None or outcome.code != 0):
        complaints = bench.finished(command, folder)
    return int(reached), f"{command} with VOXSWAP_FAULT={fault}", complaints, folder
