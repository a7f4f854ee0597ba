"""Runs two processes at once on one output folder or one cache: one works, the other reports it, nothing is mixed up."""

import shutil
import time

from workbench import leftovers, whole

TITLE = "two processes at once"


def trial(bench, random):
    seconds, _, _ = bench.expected("run")
    folder, shared = bench.trial_folder(), random.choice(["run folder", "cache", "phantom"])
    if shared == "cache":
        shutil.rmtree(folder / "cache")
    calls = {"run folder": [["run", "experiment.yaml", "--out", "out", f"training.seed={seed}"] for seed in (5, 6)],
             "cache": [["run", "experiment.yaml", "--out", out] for out in ("out", "other")],
             "phantom": [bench.commands()["phantom"][0]] * 2}[shared]
    began = time.monotonic()
    first = bench.start(calls[0], folder)
    delay = random.uniform(0, 0.5 * seconds)
    time.sleep(delay)
    second = bench.start(calls[1], folder)
    outcomes = [bench.finish(first, began), bench.finish(second, began)]
    complaints = whole(folder) + leftovers(folder)
    for outcome in outcomes:
        complaints += outcome.complaints(promised={0, 1, 2})
    done = [outcome for outcome in outcomes if outcome.code == 0]
    if shared == "cache" and len(done) != 2:
        complaints.append(f"both should succeed: {[outcome.stderr[-200:] for outcome in outcomes]}")
    if shared == "run folder" and len(done) != 1:
        complaints.append(f"{len(done)} of two runs into one folder succeed: {[outcome.stderr[-200:] for outcome in outcomes]}")
    if not done:
        complaints.append("neither succeeds")
    if shared == "cache" and not complaints:
        shutil.rmtree(folder / "other")
        complaints += bench.differences("run", folder, "")
    return 1, f"{shared}, {delay:.2f} s apart", complaints, folder
