#!/usr/bin/env python3
"""Measures the slowdown of a training step while a second copy of the program trains on the same cores.

    bench/two_programs.py [--python PYTHON] [--program build/release/bin/training_step] [--side 96] [--precision bf16]
                          [--rounds 5] [--csv bench/results/FILE.csv]

Measures one program alone and two started together, and the same for PyTorch (contiguous, eager) if a Python that has
it is given, in turns for `rounds` rounds. Each process reports its median step time. voxswap's threads wait as in
`voxswap` (docs/explanation/execution.md, Threads), PyTorch uses its defaults. Two programs that share the cores fairly
and do not interfere otherwise take twice as long."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

from rows import write_rows

HERE = pathlib.Path(__file__).resolve().parent


def together(command, environment, count):
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(count)]
    printed = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        raise SystemExit(f"{' '.join(command)} failed")
    return [json.loads(lines.strip().splitlines()[-1])["seconds"] for lines in printed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/training_step"))
    parser.add_argument("--python", help="one that has torch")
    parser.add_argument("--side", type=int, default=96)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv")
    options = parser.parse_args()
    what = [str(options.side), options.precision]
    commands = {"voxswap": ([options.program, *what, "9"], {"GOMP_SPINCOUNT": "1000", **os.environ})}
    if options.python:
        peer = [options.python, str(HERE / "pytorch_training_step.py"), *what, "4", "contiguous"]
        commands["pytorch"] = (peer, dict(os.environ))
    found = {name: ([], []) for name in commands}
    for _ in range(options.rounds):
        for name, (command, environment) in commands.items():
            for count in (1, 2):
                found[name][count - 1].extend(together(command, environment, count))
    rows = []
    for name, (alone, both) in found.items():
        one, two = statistics.median(alone), statistics.median(both)
        rows.append({"program": name, "side": options.side, "precision": options.precision, "alone_seconds": round(one, 4),
                     "two_at_once_seconds": round(two, 4), "slowest_at_once_seconds": round(max(both), 4),
                     "ratio": round(two / one, 3)})
        print(rows[-1], flush=True)
    if options.csv:
        write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
