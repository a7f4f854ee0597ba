#!/usr/bin/env python3
"""voxswap's training step beside PyTorch's on the same cores, in turns in the same run: medians and ratios.

    bench/compare_training_step.py [--program build/release/bin/training_step] [--sides 64 96 128] [--rounds 3]
                                   [--python /usr/bin/python3] [--csv bench/results/FILE.csv]

Per side and precision the three programs (ours, PyTorch contiguous, PyTorch channels_last_3d) take turns for `rounds`
rounds; each is a process of its own that reports the median of its steps and its peak resident memory. The peer is
whichever of PyTorch's two layouts is faster.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def one(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/training_step"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 96, 128])
    parser.add_argument("--precisions", nargs="+", default=["f32", "bf16"])
    parser.add_argument("--layouts", nargs="+", default=["contiguous", "channels_last"], help="PyTorch's, to choose the better from")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()

    rows = []
    for side in options.sides:
        for precision in options.precisions:
            steps = "3" if side <= 64 else "1"
            peer = [options.python, str(HERE / "pytorch_training_step.py"), str(side), precision, steps]
            commands = {"voxswap": [options.program, str(side), precision, steps]}
            commands.update((layout, peer + [layout]) for layout in options.layouts)
            runs = {name: [] for name in commands}
            for _ in range(options.rounds):
                for name, command in commands.items():
                    runs[name].append(one(command))
            seconds = {name: statistics.median(r["seconds"] for r in results) for name, results in runs.items()}
            peak = {name: max(r["peak_bytes"] for r in results) for name, results in runs.items()}
            best = min(options.layouts, key=seconds.get)
            gflops = runs["voxswap"][0]["gflop"] / seconds["voxswap"]
            rows.append({"side": side, "precision": precision, "voxswap_seconds": round(seconds["voxswap"], 4),
                         "pytorch_seconds": round(seconds[best], 4), "pytorch_layout": best,
                         "speedup": round(seconds[best] / seconds["voxswap"], 3),
                         "voxswap_peak_mib": peak["voxswap"] >> 20, "pytorch_peak_mib": peak[best] >> 20,
                         "memory_ratio": round(peak["voxswap"] / peak[best], 3),
                         "arena_mib": runs["voxswap"][0]["arena_bytes"] >> 20, "voxswap_gflops": round(gflops, 1),
                         "pytorch_version": runs[best][0]["version"], "threads": runs[best][0]["threads"],
                         "backend": runs["voxswap"][0]["backend"]})
            print(f"{side:4d}^3 {precision:5s} voxswap {seconds['voxswap']:8.3f} s  {peak['voxswap'] >> 20:6d} MiB   "
                  f"PyTorch ({best}) {seconds[best]:8.3f} s  {peak[best] >> 20:6d} MiB   "
                  f"{rows[-1]['speedup']:.2f} times as fast, {rows[-1]['memory_ratio']:.2f} of the memory", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
