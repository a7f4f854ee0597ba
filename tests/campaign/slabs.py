"""Kills one or both of two ranks that share every volume. The run reports it and ends within 30 seconds; resumed on
any number of ranks, it has the results of one process."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ranks
from whole import results
from workbench import whole

TITLE = "kills of ranks with slabs"
KEYS = ["preprocess.resolution=32", "training.epochs=6", "training.batch_size=12"]
RESUMED = [(1, 1), (2, 2), (2, 1), (3, 3), (4, 2), (4, 4)]  # (ranks, ranks that share a volume)
END_SECONDS = 30  # maximum time between the kill and the end
# The launcher's messages when no rank is left to report: the first names the rank but is sometimes missing, the second
# says that a rank has ended.
MESSAGES = ("exited on signal 9 (Killed)", "1 process returned\na non-zero exit code")
ended_after = []  # seconds from each kill to the end


def possible(bench):
    return ranks.possible(bench)


def start(bench, folder, count, slabs, precision):
    return ranks.start(bench, folder, count, slabs, [*KEYS, f"training.precision={precision}"])


def expected(bench, precision):
    """Returns the seconds that 2 ranks take, and the results of one undisturbed process."""
    def undisturbed():
        found = []
        for count in (1, 2):
            folder = bench.trial_folder()
            outcome = bench.finish(start(bench, folder, count, count, precision), time.monotonic(), ranks.LIMIT_SECONDS)
            if outcome.code != 0:
                raise RuntimeError(f"undisturbed: {outcome.code}: {outcome.stderr}")
            found.append((outcome.seconds, results(folder)))
        (_, wanted), (seconds, _) = found
        return seconds, wanted
    return bench.once(f"slabs {precision}", undisturbed)


def rank_of(process):
    """Returns the rank number that the launcher assigned to a process."""
    for variable in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
        if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(variable.split(b"=")[1])
    raise RuntimeError(f"process {process} has no rank")


def at_work(folder, since):
    """Returns whether ranks started at `since` have joined and still have work to do."""
    log = folder / "out" / "log.txt"
    return log.exists() and log.stat().st_mtime > since and not (folder / "out" / "report.html").exists()


def strike(bench, folder, random, precision, moment):
    """Kills one or both ranks after `moment` seconds, or as soon afterwards as ranks exist."""
    began = time.time()
    process = start(bench, folder, 2, 2, precision)
    time.sleep(moment)
    while process.poll() is None and not (here := ranks.members(bench, folder)):
        time.sleep(0.01)
    targets = here if process.poll() is None else []
    everyone = random.random() < 0.5
    targets = targets if everyone or not targets else [random.choice(targets)]
    survived = not everyone and at_work(folder, began)
    lost = []
    for target in targets:
        try:
            rank = rank_of(target)
            os.kill(target, signal.SIGKILL)
            lost.append(rank)
        except (ProcessLookupError, FileNotFoundError):
            pass  # it ended just before
    killed = len(lost)
    seconds = 0
    launcher_hangs = False
    with ThreadPoolExecutor(1) as waiter:
        ended = waiter.submit(bench.finish, process, time.monotonic(), ranks.LIMIT_SECONDS)
        while (not ended.done() or ranks.members(bench, folder)) and seconds < ranks.LIMIT_SECONDS:
            before = time.monotonic()
            time.sleep(0.02)
            seconds += min(time.monotonic() - before, 1)  # do not count suspended time
            if killed == 2 and seconds > END_SECONDS and not ranks.members(bench, folder):
                launcher_hangs = True  # Open MPI can miss the end of ranks that are killed while they join it
                process.kill()
                break
    outcome = ended.result()
    if launcher_hangs:
        return killed, f"2 of 2 ranks killed at {moment:.2f} s, which their launcher missed", whole(folder), outcome
    what = f"{killed} of 2 ranks in {precision} killed at {moment:.2f} s, over after {seconds:.2f} s"
    complaints = [f"over after {seconds:.0f} s"] if killed and seconds > END_SECONDS else []
    if killed and outcome.code != 0:
        ended_after.append(seconds)
        own = [f"error: rank {rank} on " for rank in lost]
        if not any(message in outcome.stderr for message in (own if survived else [*own, *MESSAGES])):
            complaints.append(f"no message: {outcome.stderr[-600:]!r}")
    elif outcome.code != 0:
        complaints.append(f"exit code {outcome.code}: {outcome.stderr[-600:]!r}")
    return killed, what, complaints + whole(folder), outcome


def trial(bench, random):
    precision = random.choice(["f32", "bf16"])
    seconds, wanted = expected(bench, precision)
    folder = bench.trial_folder()
    kills, events, complaints = 0, [], []
    if random.random() < 0.3:
        for file in (folder / "cache").rglob("*.prepared"):
            file.unlink()  # so that preparing is part of the run
    for _ in range(random.choice([1, 2, 3])):
        killed, what, found, outcome = strike(bench, folder, random, precision, random.uniform(0, seconds))
        kills += killed > 0
        events.append(what)
        complaints += found
        if outcome.code == 0 or complaints:
            break
    if not complaints:
        count, slabs = random.choice(RESUMED)
        events.append(f"then {count} ranks, {slabs} to a volume")
        outcome = bench.finish(start(bench, folder, count, slabs, precision), time.monotonic(), ranks.LIMIT_SECONDS)
        complaints += ranks.complaints_of_resumed(outcome, folder, wanted)
    return kills, ", ".join(events), complaints, folder
