#!/usr/bin/env python3
"""Compares voxswap's training step with PyTorch's on the same cores, in turns in the same run: medians and ratios.

    bench/compare_training_step.py --python PYTHON [--program build/release/bin/training_step] [--sides 64 96 128]
                                   [--shares 1 0.6] [--rounds 3] [--csv bench/results/FILE.csv] [--page docs/results/training_speed.md]

For each side and precision, voxswap and the PyTorch variants (contiguous and channels last, eager and compiled) take
turns for `rounds` rounds. Each runs in its own process and reports the median step time, its peak resident memory and
the part of it allocated before the first step. The fastest PyTorch variant is the reference. A share below 1 is a
fraction of the arena that the step takes when everything is kept: hybrid plans for it without a host pool, which is the
same memory. `--page` replaces the table of a page between its two comments "training step"."""
import argparse
import json
import pathlib
import re
import statistics
import subprocess

from rows import write_rows

HERE = pathlib.Path(__file__).resolve().parent


def one(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def table(rows):
    """Formats the rows as a page's table; memory in total, and in excess of that before the first step."""
    lines = ["| cube | precision | arena | voxswap | PyTorch | speed-up | share of its memory | beyond the start |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        arena = "full" if row["share"] == 1 else f"{row['share']:g} of it"
        lines.append(f"| {row['side']}^3 | {row['precision']} | {arena} | {row['voxswap_seconds']:.2f} s, {row['voxswap_peak_mib']} MiB "
                     f"| {row['pytorch_seconds']:.2f} s, {row['pytorch_peak_mib']} MiB ({row['pytorch_way']}) "
                     f"| {row['speedup']:.1f} | {row['memory_ratio']:.2f} | {row['memory_ratio_beyond_start']:.2f} |")
    return "\n".join(lines)


def put_into(page, text):
    begin, end = "<!-- training step -->\n", "\n<!-- end of training step -->"
    page, old = pathlib.Path(page), pathlib.Path(page).read_text()
    if begin not in old or end not in old:
        raise SystemExit(f"{page}: expected a table between {begin.strip()} and {end.strip()}")
    page.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + text + end, old, flags=re.S))


def compared(side, precision, options):
    steps = "3" if side <= 64 else "1"
    peer = [options.python, str(HERE / "pytorch_training_step.py"), str(side), precision, steps]
    ours = {share: f"voxswap in {share:g}" for share in options.shares}
    commands = {name: [options.program, str(side), precision, steps] + ([str(share), "0"] if share < 1 else [])
                for share, name in ours.items()}
    commands.update((f"{layout}, {mode}", peer + [layout, "--mode", mode]) for layout in options.layouts for mode in options.modes)
    runs = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            runs[name].append(one(command))
    seconds = {name: statistics.median(r["seconds"] for r in results) for name, results in runs.items()}
    peak = {name: max(r["peak_bytes"] for r in results) for name, results in runs.items()}
    beyond = {name: max(r["peak_bytes"] - r["before_bytes"] for r in results) for name, results in runs.items()}
    peers = [name for name in commands if name not in ours.values()]
    best = min(peers, key=seconds.get)
    theirs = runs[best][0]
    return [{"side": side, "precision": precision, "share": share, "voxswap_seconds": round(seconds[name], 4),
             "pytorch_seconds": round(seconds[best], 4), "pytorch_way": best, "speedup": round(seconds[best] / seconds[name], 3),
             "voxswap_peak_mib": peak[name] >> 20, "pytorch_peak_mib": peak[best] >> 20,
             "memory_ratio": round(peak[name] / peak[best], 3),
             "voxswap_beyond_start_mib": beyond[name] >> 20, "pytorch_beyond_start_mib": beyond[best] >> 20,
             "memory_ratio_beyond_start": round(beyond[name] / beyond[best], 3),
             "arena_mib": runs[name][0]["arena_bytes"] >> 20, "voxswap_gflops": round(runs[name][0]["gflop"] / seconds[name], 1),
             "pytorch_seconds_of_all": "; ".join(f"{peer} {seconds[peer]:.4f}" for peer in peers),
             "pytorch_version": theirs["version"], "threads": theirs["threads"], "backend": runs[name][0]["backend"], "rounds": options.rounds}
            for share, name in ours.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/training_step"))
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has torch")
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 96, 128])
    parser.add_argument("--precisions", nargs="+", default=["f32", "bf16"])
    parser.add_argument("--layouts", nargs="+", default=["contiguous", "channels_last"])
    parser.add_argument("--modes", nargs="+", default=["eager", "compile"])
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv")
    parser.add_argument("--page")
    options = parser.parse_args()

    rows = []
    for side in options.sides:
        for precision in options.precisions:
            rows.extend(compared(side, precision, options))
            print("\n".join(table(rows).splitlines()[-len(options.shares):]), flush=True)
            if options.csv:
                write_rows(options.csv, rows)
    if options.page:
        put_into(options.page, table(rows))


if __name__ == "__main__":
    main()
