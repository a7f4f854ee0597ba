#!/usr/bin/env python3
"""Measures `voxswap predict` for many labels: seconds and memory for one case, mirrored, with one and with two networks.

    bench/many_labels.py --work FOLDER [--program build/release/bin/voxswap] [--labels 117] [--side 192] [--window 32]
                         [--filters 8] [--networks 1 2] [--rounds 3] [--limit SECONDS] [--csv bench/results/FILE.csv]

Writes a data set in FOLDER whose labels are small blocks, and trains networks on it for one epoch, unless they exist. The
seconds are those of the whole process. A prediction that takes longer than the limit is ended and counted as such.
"""
import argparse
import gzip
import json
import pathlib
import random
import statistics
import struct
import subprocess

from process import measured
from rows import write_rows


def write_nifti(path, side, kind, values):
    """Writes a cube of 1 mm voxels; `kind`: h (int16) or f (float32)."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, side, side, side, 1, 1, 1, 1)
    struct.pack_into("<hh", header, 70, {"h": 4, "f": 16}[kind], {"h": 16, "f": 32}[kind])
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<f", header, 112, 1)
    struct.pack_into("<h", header, 254, 1)
    struct.pack_into("<12f", header, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    header[344:348] = b"n+1\0"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header + struct.pack(f"<{side ** 3}{kind}", *values))


def write_case(folder, name, side, labels, with_truth):
    """A block of side / 5 voxels per label, as bright as its number, and noise."""
    numbers = random.Random(name)
    noise = [numbers.gauss(0, 2) for _ in range(4096)]
    block = max(side // 5, 1)
    truth = [min((z // block * 25 + y // block * 5 + x // block) % 125, labels - 1)
             for z in range(side) for y in range(side) for x in range(side)]
    image = [label + noise[numbers.getrandbits(12)] + 1 for label in truth]
    write_nifti(folder / "imagesTr" / f"{name}_0000.nii.gz", side, "f", image)
    if with_truth:
        write_nifti(folder / "labelsTr" / f"{name}.nii.gz", side, "h", truth)


def write_data(folder, side, labels, window):
    for part, count, size, with_truth in (("small", 5, window, True), ("large", 1, side, False)):
        for name in ("imagesTr", "labelsTr"):
            (folder / part / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            write_case(folder / part, f"case_{number}", size, labels, with_truth)
    names = {"background": 0} | {f"label_{value}": value for value in range(1, labels)}
    (folder / "small" / "dataset.json").write_text(json.dumps(
        {"channel_names": {"0": "t1"}, "labels": names, "numTraining": 5, "file_ending": ".nii.gz"}))


def trained(options):
    if not (options.work / "small" / "dataset.json").exists():
        write_data(options.work, options.side, options.labels, options.window)
    runs = [options.work / f"run_{seed}" for seed in range(max(options.networks))]
    for seed, run in enumerate(runs):
        if (run / "report.html").exists():
            continue
        (options.work / "many_labels.yaml").write_text(
            "name: many_labels\ndata: {root: small, layout: nnunet}\n"
            "preprocess: {spacing: [1, 1, 1], crop: none, normalize: image}\n"
            f"network: {{name: plain_unet, base_filters: {options.filters}, depth: 3}}\n"
            f"training: {{epochs: 1, seed: {seed + 1}, patch: {options.window}, loss: softmax_dice_cross_entropy}}\n"
            "evaluate: {metrics: [dice], postprocessing: none}\noutput: {viewer: none}\n")
        subprocess.run([options.program, "run", options.work / "many_labels.yaml", "--out", run], check=True,
                       stdout=subprocess.DEVNULL)
    return runs


def predicted(options, runs):
    """Returns seconds, processor seconds and peak resident bytes of a prediction."""
    command = [options.program, "predict", *runs, "--input", options.work / "large" / "imagesTr" / "case_0_0000.nii.gz",
               "--out", options.work / f"out_{len(runs)}", "--tta", "--force", *options.more]
    return measured(command, options.limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/bin/voxswap"))
    parser.add_argument("--labels", type=int, default=117)
    parser.add_argument("--side", type=int, default=192)
    parser.add_argument("--window", type=int, default=32)
    parser.add_argument("--filters", type=int, default=8)
    parser.add_argument("--networks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("more", nargs="*", help="further options of voxswap predict")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    runs = trained(options)
    rows = []
    for networks in options.networks:
        found = [predicted(options, runs[:networks]) for _ in range(options.rounds)]
        rows.append({"labels": options.labels, "side": options.side, "window": options.window, "networks": networks,
                     "rounds": options.rounds, "seconds": round(statistics.median(one[0] for one in found), 1),
                     "processor_seconds": round(statistics.median(one[1] for one in found), 1),
                     "peak_bytes": max(one[2] for one in found)})
        print(rows[-1], flush=True)
    if options.csv:
        write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
