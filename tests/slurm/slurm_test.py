#!/usr/bin/env python3
"""Runs the program as a Slurm job: on two tasks, stopped and requeued automatically, and as a sweep.

    tests/slurm/slurm_test.py --build build/release               as the suite does
    tests/slurm/slurm_test.py --build build/release --time-limit  the job is told to stop as its minute ends

Starts Slurm's daemons in their own folder (cluster.py). Exits with 77 if they cannot run."""

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cluster import Cluster, missing  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
SKIPPED = 77
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
EXPERIMENT = """name: tiny
data: {root: data, modalities: [flair, t1ce], cache: cache, split: {validation: 0.4}}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 3, seed: 5, batch_size: 12, precision: f32}
memory: {planner: keep, budget: 64MiB}
"""
TABLES = ("train_loss", "validation_loss", "learning_rate", "epoch")


def tensors(file):
    content = file.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little"):]


def results(folder):
    """Returns the results that must be identical wherever a run ran."""
    with open(folder / "epochs.csv", newline="") as file:
        losses = [[row[name] for name in TABLES] for row in csv.DictReader(file)]
    found = {"losses": losses, "dice.csv": (folder / "dice.csv").read_text()}
    for name in ("last", "best"):
        found[name] = hashlib.sha256(tensors(folder / "checkpoints" / f"{name}.safetensors")).hexdigest()
    return found


class Bench:
    def __init__(self, cluster, folder, program):
        self.cluster, self.folder, self.program = cluster, folder, str(program)

    def must(self, *arguments):
        subprocess.run([self.program, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)

    def submit(self, script, *arguments, options=()):
        words = ["--parsable", f"--chdir={self.folder}", "--output=%x-%A.log", *options, str(script), *arguments]
        return self.cluster.call("sbatch", *words).strip()

    def wait(self, job, seconds=120):
        """Waits for the job's end; returns its last state."""
        self.cluster.until(f"job {job} is over", lambda: self.states(job) <= OVER, seconds)
        return self.states(job).pop()

    def states(self, job):
        return {details["JobState"] for details in self.cluster.details(job)}

    def log(self):
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.folder.glob("*.log")))


def expect(holds, what, bench):
    if not holds:
        raise AssertionError(f"{what}\n{bench.log()[-3000:]}\n{bench.cluster.logs()}")


def two_tasks_give_the_bytes_of_one(bench):
    bench.must("run", "experiment.yaml", "--out", "alone")
    job = bench.submit(SOURCE / "experiments/slurm.sh", "experiment.yaml", "--out", "pair", options=["-n2", "-c1"])
    expect(bench.wait(job) == "COMPLETED", "the job does not complete", bench)
    expect(results(bench.folder / "pair") == results(bench.folder / "alone"), "two tasks give other bytes than one process", bench)


def a_job_that_is_told_to_stop_goes_on_by_itself(bench, time_limit):
    many = ["training.epochs=400", "training.early_stop=0"]
    if time_limit:
        many[0] = "training.epochs=100000"
    options = ["-n2", "-c1", "--time=1", "--signal=USR1@30"] if time_limit else ["-n2", "-c1"]
    job = bench.submit(SOURCE / "experiments/slurm.sh", "experiment.yaml", "--out", "told", *many, options=options)
    if not time_limit:
        bench.cluster.until("it trains", lambda: (bench.folder / "told" / "epochs.csv").exists(), 60)
        bench.cluster.call("scancel", "--signal=USR1", job)
    restarted = lambda: int(bench.cluster.details(job)[0].get("Restarts", 0)) > 0  # noqa: E731
    bench.cluster.until("the job is queued again", restarted, 120)
    checkpoint = bench.folder / "told" / "checkpoints" / "last.safetensors"
    expect(checkpoint.exists(), "it was queued again without a checkpoint", bench)
    if time_limit:
        bench.cluster.call("scancel", job)
        return
    expect(bench.wait(job) == "COMPLETED", "the job that went on does not complete", bench)
    expect("interrupted" in bench.log() and "resuming repeat 1" in bench.log(), "it was not interrupted and resumed", bench)
    bench.must("run", "experiment.yaml", "--out", "untold", *many)
    expect(results(bench.folder / "told") == results(bench.folder / "untold"), "it goes on to other bytes", bench)


def a_rank_that_is_killed_ends_the_job(bench):
    job = bench.submit(SOURCE / "experiments/slurm.sh", "experiment.yaml", "--out", "killed", "training.epochs=100000",
                       "training.early_stop=0", options=["-n2", "-c1"])
    bench.cluster.until("it trains", lambda: (bench.folder / "killed" / "epochs.csv").exists(), 60)
    ranks = [int(process.name) for process in Path("/proc").glob("[0-9]*") if works_in(process, bench.folder, bench.program)]
    expect(len(ranks) == 2, f"two ranks were started, found are {ranks}", bench)
    os.kill(max(ranks), 9)
    expect(bench.wait(job, 60) == "FAILED", "the job does not fail", bench)


def works_in(process, folder, program):
    try:
        return (process / "exe").resolve() == Path(program) and (process / "cwd").resolve() == folder.resolve()
    except OSError:  # it has ended
        return False


def a_sweep_runs_its_cells_on_tasks_and_in_arrays(bench):
    sweep = f"{bench.program} sweep experiment.yaml training.seed=1,2,3"
    for out, rest, options in (("swept", "--jobs auto", ["-n2", "-c1"]), ("parts", '--part "$SLURM_ARRAY_TASK_ID/2"', ["--array=1-2", "-c1"])):
        script = bench.folder / f"{out}.sh"
        script.write_text(f"#!/bin/sh\n{sweep} --out {out} {rest}\n")
        job = bench.submit(script, options=options)
        bench.cluster.until(f"{out}: all are over", lambda: bench.states(job) <= OVER, 120)
        expect(bench.states(job) == {"COMPLETED"}, f"{out} does not complete", bench)
        for seed in (1, 2, 3):
            outcome = json.loads((bench.folder / out / f"seed-{seed}" / "outcome.json").read_text())
            expect(outcome["exit"] == 0, f"{out}: the cell of seed {seed} failed", bench)
        expect((bench.folder / out / "report.html").exists(), f"{out} has no report", bench)
    tables = {out: (bench.folder / out / "dice.csv").read_text() for out in ("swept", "parts")}
    expect(tables["swept"] == tables["parts"], "an array has other scores than tasks have", bench)


def an_array_for_each_round_stops_the_losers_that_one_process_stops(bench):
    sweep = ["sweep", "experiment.yaml", "training.optimizer.learning_rate=1e-5,1e-2,1e-3,1e-4", "sweep.stop=halving", "training.epochs=4"]
    bench.must(*sweep, "--out", "halved")
    script = bench.folder / "rounds.sh"
    script.write_text(f'#!/bin/sh\n{bench.program} {" ".join(sweep)} --out rounds --part "$SLURM_ARRAY_TASK_ID/2"\n')
    job = None
    for _ in range(3):
        after = [f"--dependency=afterany:{job}"] if job else []
        job = bench.submit(script, options=["--array=1-2", "-c1", *after])
    bench.cluster.until("all rounds are over", lambda: bench.states(job) <= OVER, 180)
    expect(bench.states(job) == {"COMPLETED"}, "the last array does not complete", bench)
    for table in ("halving.csv", "sweep.csv", "dice.csv"):
        same = (bench.folder / "rounds" / table).read_bytes() == (bench.folder / "halved" / table).read_bytes()
        expect(same, f"arrays give another {table} than one process", bench)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--time-limit", action="store_true", help="wait for the limit of a minute instead of telling the job to stop")
    arguments = parser.parse_args()
    if reason := missing():
        print(f"SKIPPED: {reason}")
        return SKIPPED
    # One thread each, because sums in libraries may depend on the number of threads.
    os.environ.update(OMP_NUM_THREADS="1", VOXSWAP=str(Path(arguments.build, "bin", "voxswap").resolve()))
    scratch = Path(tempfile.mkdtemp(prefix="voxswap_slurm_"))
    try:
        with Cluster(scratch / "cluster") as cluster:
            folder = scratch / "work"
            folder.mkdir()
            bench = Bench(cluster, folder, os.environ["VOXSWAP"])
            bench.must("phantom", "--out", "data", "--cases", "8", "--size", "16", "--seed", "3")
            (folder / "experiment.yaml").write_text(EXPERIMENT)
            two_tasks_give_the_bytes_of_one(bench)
            a_job_that_is_told_to_stop_goes_on_by_itself(bench, arguments.time_limit)
            a_rank_that_is_killed_ends_the_job(bench)
            a_sweep_runs_its_cells_on_tasks_and_in_arrays(bench)
            an_array_for_each_round_stops_the_losers_that_one_process_stops(bench)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("a job of two tasks, one that is told to stop, one whose rank is killed, two sweeps: done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
