"""Kills or stops ranks at random moments and resumes with other numbers of ranks. The results equal those of one
undisturbed process, files are always complete, and no process remains or hangs."""

import os
import shutil
import signal
import time
from pathlib import Path

from whole import results
from workbench import leftovers, whole

TITLE = "kills of ranks"
COUNTS = [1, 2, 3, 4, 8]  # all can share a batch of 24
RUN = ["run", "experiment.yaml", "--out", "out", "--resume", "training.batch_size=24", "training.epochs=8", "training.precision=f32"]
# (signal, whether it goes to the launcher instead of a rank)
STRIKES = [(signal.SIGKILL, False)] * 4 + [(signal.SIGKILL, True), (signal.SIGTERM, False), (signal.SIGUSR1, False),
                                           (signal.SIGUSR1, True), (signal.SIGTERM, True)]
LIMIT_SECONDS = 600  # for eight ranks on a busy machine
LINGER_SECONDS = 60  # time for the other ranks to end after one has died


def possible(_):
    return None if shutil.which("mpirun") else "there is no mpirun"


def start(bench, folder, ranks, slabs=1, keys=()):
    scratch = folder / "cache" / "mpi"  # temporary files of a killed launcher stay here
    scratch.mkdir(exist_ok=True)
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_MCA_hwloc_base_binding_policy": "none", "TMPDIR": str(scratch)}
    return bench.start(RUN + [*keys, f"ranks.slabs={slabs}"], folder, environment, launcher=["mpirun", "-n", str(ranks)] if ranks > 1 else ())


def slabs_of(ranks, random):
    """Returns a random number of ranks that share each volume."""
    return random.choice([count for count in (1, 2, 4) if ranks % count == 0])


def members(bench, folder):
    """Returns the ids of the program's processes that work in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").resolve() == Path(bench.program) and (process / "cwd").resolve() == folder.resolve():
                found.append(int(process.name))
        except OSError:
            continue  # it has ended
    return found


def expected(bench):
    """Returns the seconds that 2 ranks take, and the results of one process."""
    def undisturbed():
        folder, other = bench.trial_folder(), bench.trial_folder()
        alone = bench.finish(start(bench, folder, 1), time.monotonic(), LIMIT_SECONDS)
        two = bench.finish(start(bench, other, 2), time.monotonic(), LIMIT_SECONDS)
        if alone.code != 0 or two.code != 0:
            raise RuntimeError(f"undisturbed: {alone.code}, {two.code}: {alone.stderr}{two.stderr}")
        return two.seconds, results(folder)
    return bench.once("ranks", undisturbed)


def strike(bench, folder, random, ranks, moment):
    number, at_launcher = random.choice(STRIKES)
    began = time.monotonic()
    slabs = slabs_of(ranks, random)
    process = start(bench, folder, ranks, slabs)
    time.sleep(moment)
    here = members(bench, folder)
    target = process.pid if at_launcher or not here else random.choice(here)
    try:
        os.kill(target, number)
    except ProcessLookupError:
        pass
    outcome = bench.finish(process, began, LIMIT_SECONDS)
    complaints = ["does not end"] if outcome.code is None else []
    end = time.monotonic() + LINGER_SECONDS
    while members(bench, folder) and time.monotonic() < end:
        time.sleep(0.05)
    if left := members(bench, folder):
        complaints.append(f"ranks are left: {left}")
        for one in left:
            os.kill(one, signal.SIGKILL)
    what = f"{number.name} to {'the launcher' if at_launcher else 'one'} of {ranks}, {slabs} to a volume, at {moment:.2f} s"
    return complaints + whole(folder), what, outcome


def complaints_of_resumed(outcome, folder, wanted):
    """Returns complaints about a run resumed to its end: it must have the results of one process."""
    if outcome.code != 0:
        return [f"cannot be resumed: exit code {outcome.code}: {outcome.stderr[-600:]!r}"]
    found = results(folder)
    different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    return ([f"other results than one process: {', '.join(different)}"] if different else []) + leftovers(folder)


def trial(bench, random):
    seconds, wanted = expected(bench)
    folder = bench.trial_folder()
    complaints, strikes = [], []
    if random.random() < 0.5:
        for file in (folder / "cache").rglob("*.prepared"):
            file.unlink()  # so that preparing is part of the run
    for _ in range(random.choice([1, 1, 2, 3])):
        ranks = random.choice(COUNTS[1:])
        found, what, outcome = strike(bench, folder, random, ranks, random.uniform(0, 1.1 * seconds))
        strikes.append(what)
        complaints += found
        if outcome.code == 0 or complaints:
            break
    if not complaints:
        ranks = random.choice(COUNTS)
        strikes.append(f"then {ranks}")
        outcome = bench.finish(start(bench, folder, ranks, slabs_of(ranks, random)), time.monotonic(), LIMIT_SECONDS)
        complaints += complaints_of_resumed(outcome, folder, wanted)
    return len(strikes) - (1 if strikes[-1].startswith("then") else 0), ", ".join(strikes), complaints, folder
