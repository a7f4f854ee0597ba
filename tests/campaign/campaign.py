#!/usr/bin/env python3
"""Disturbs voxswap as real machines do and checks that it keeps its guarantees (docs/explanation/robustness.md).

    tests/campaign/campaign.py --build build/release --seed 1 --minutes 30
    tests/campaign/campaign.py --build build/release --seed 1 --only kills --trials 1000
    tests/campaign/campaign.py --build build/release --seed 1 --trial kills:17      one that failed, again

A trial depends only on the seed, its subject and its number, except for timing such as the moment of a kill. It needs
only Python's standard library and the library faults.c, which CMake builds. Full disks are mounted, which needs root.
Exits with 1 if a trial failed."""

import argparse
import math
import random
import shutil
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import damage
import environments
import full_disk
import hostile
import injected
import killed_writers
import kills
import many_cases
import order
import others_files
import ranks
import slabs
import together
from workbench import Workbench

SUBJECTS = {"kills": kills, "writers": killed_writers, "faults": injected, "disks": full_disk, "damage": damage, "hostile": hostile,
            "environments": environments, "together": together, "others": others_files, "order": order, "cases": many_cases, "ranks": ranks,
            "slabs": slabs}
# Trials per subject in the test suite; the counts are fixed, however long the trials take.
BRIEF = {"kills": 6, "writers": 12, "others": 24, "faults": 25, "disks": 4, "damage": 8, "hostile": 10, "environments": 8, "together": 2, "order": 4, "ranks": 2,
         "slabs": 1}
# (subject, number, seed) of trials that failed in the past; also part of the suite.
FAILED_ONCE = [("environments", 2, 8841)]


class Tally:
    def __init__(self):
        self.counts, self.failed = dict.fromkeys(SUBJECTS, 0), dict.fromkeys(SUBJECTS, 0)

    def add(self, subject, number, seed, result):
        count, description, complaints, folder = result
        self.counts[subject] += count
        if complaints:
            self.failed[subject] += 1
            print(f"FAILED {subject}:{number} {description}", *[f"    {text}" for text in complaints],
                  f"    again: tests/campaign/campaign.py --seed {seed} --trial {subject}:{number}", sep="\n", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        if (whole := sum(self.counts.values())) // 20 > (whole - count) // 20:  # show progress in long campaigns
            print(f"{whole} so far, {sum(self.failed.values())} trials failed", file=sys.stderr)

    def table(self):
        rows = [f"{'what':<28} {'trials':>8} {'failed':>7}"]
        rows += [f"{SUBJECTS[name].TITLE:<28} {count:>8} {self.failed[name]:>7}"
                 for name, count in self.counts.items() if count > 0]
        return "\n".join(rows)


def run_trial(bench, subject, number, seed):
    try:
        return SUBJECTS[subject].trial(bench, random.Random(f"{seed} {subject} {number}"))
    except Exception as trouble:  # an exception in the trial itself counts as a failure
        return 1, "could not be made", [repr(trouble)], bench.folder / "none"


def plan(subjects, arguments):
    """Yields (subject, number, seed) of the trials in order; endless if only the time limits them."""
    if arguments.trial:
        subject, _, number = arguments.trial.partition(":")
        yield subject, int(number), arguments.seed
        return
    if arguments.brief:
        yield from (trial for trial in FAILED_ONCE if trial[0] in subjects)
    number = 0
    while True:
        some = False
        for subject in subjects:
            wanted = BRIEF.get(subject, 0) if arguments.brief else arguments.trials
            if subject == "cases" and number > 0:
                continue
            if wanted is None or number < wanted:
                some = True
                yield subject, number, arguments.seed
        if not some:
            return
        number += 1


def minutes(arguments):
    """Returns the requested minutes; 10 if nothing else ends the trials."""
    if arguments.minutes is not None:
        return arguments.minutes
    ends = arguments.brief or arguments.trials is not None or arguments.trial
    return math.inf if ends else 10


def work(bench, subjects, arguments):
    tally, end = Tally(), time.monotonic() + 60 * minutes(arguments)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        running = {}
        for trial in plan(subjects, arguments):
            while len(running) >= arguments.jobs:
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    tally.add(*running.pop(done), done.result())
            if time.monotonic() > end:
                break
            running[pool.submit(run_trial, bench, *trial)] = trial
        for done, trial in running.items():
            tally.add(*trial, done.result())
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build's folder (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="no trial begins later; default: 10, without end for a number of trials")
    parser.add_argument("--trials", type=int, help="of each subject; default: as many as the time allows")
    parser.add_argument("--only", help=f"subjects, with commas between, of {', '.join(SUBJECTS)}")
    parser.add_argument("--trial", help="SUBJECT:NUMBER, one trial alone")
    parser.add_argument("--brief", action="store_true", help="the fixed part that belongs to the suite")
    parser.add_argument("--jobs", type=int, default=2, help="trials at once (default: %(default)s)")
    parser.add_argument("--scratch", help="folder to work in; default: the system's for temporary files")
    arguments = parser.parse_args()
    subjects = arguments.only.split(",") if arguments.only else list(SUBJECTS)
    bench = Workbench(arguments.build, arguments.scratch)
    try:
        for subject in [name for name in subjects if hasattr(SUBJECTS[name], "possible")]:
            if reason := SUBJECTS[subject].possible(bench):
                print(f"{SUBJECTS[subject].TITLE} are left out: {reason}")
                subjects.remove(subject)
        began = time.monotonic()
        tally = work(bench, subjects, arguments)
        print(tally.table())
        for library, count in injected.died_in.items():
            print(f"{library} did not survive {count} of the faults that its own calls met")
        if times := sorted(slabs.ended_after):
            print(f"ranks with slabs ended {times[len(times) // 2]:.2f} s after a kill (median), {times[-1]:.2f} s at most")
        print(f"{time.monotonic() - began:.0f} s, seed {arguments.seed}")
        return 1 if any(tally.failed.values()) else 0
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
