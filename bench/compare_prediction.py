#!/usr/bin/env python3
"""Compares `voxswap predict` with PyTorch for the same weights on the same cores, in turns: seconds and memory for a
case of 240 x 240 x 155 voxels and 4 channels, from its files to its label map.

    bench/compare_prediction.py --work FOLDER [--program build/release/bin/voxswap] [--networks isensee2017 nnunet]
                                [--sees whole 128] [--precisions f32 bf16] [--layouts contiguous channels_last]
                                [--rounds 3] [--csv bench/results/FILE.csv]

Needs a Python with numpy, nibabel and torch. Creates phantoms in FOLDER and trains each network for one epoch on
patches of 64^3, unless they exist. `nnunet` is plain_unet as nnU-Net plans it for 128^3: 32 to 320 filters, 6 levels.
voxswap's seconds include the whole process, PyTorch's exclude importing and loading. The faster PyTorch layout counts.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import nibabel
import numpy as np

from process import measured
from rows import write_rows

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = {"isensee2017": ["network.name=isensee2017"],
            "nnunet": ["network.name=plain_unet", "network.depth=6", "network.base_filters=32", "network.max_filters=320"]}
CHANNELS = ["t1", "t1ce", "t2", "flair"]


def quiet(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def ours(command):
    """Returns seconds and peak memory of a process."""
    seconds, _, peak = measured(command)
    return {"seconds": seconds, "peak_bytes": peak}


def trained(options, network, precision):
    """Returns a run, trained if it does not exist, and its network for PyTorch."""
    run = options.work / f"{network}_{precision}"
    if not (run / "report.html").exists():
        (options.work / "prediction.yaml").write_text(
            "name: prediction\ndata: {root: phantoms, layout: brats}\n"
            "preprocess: {resolution: [240, 240, 160], crop: none, normalize: image}\n"
            "training: {epochs: 1, patch: 64}\noutput: {viewer: none}\n")
        quiet([options.program, "run", options.work / "prediction.yaml", f"training.precision={precision}", "--out", run,
               *NETWORKS[network]])
    weights = options.work / f"{run.name}.safetensors"
    if not weights.exists():
        quiet([options.program, "export", run, "--to", "pytorch", "--out", weights])
    return run, weights


def compared(network, sees, precision, case, options):
    run, weights = trained(options, network, precision)
    window = sees if sees == "whole" else f"{sees},{sees},{sees}"
    files = [next(case.glob(f"*_{channel}.nii.gz")) for channel in CHANNELS]
    maps = {name: options.work / name / f"{case.name}.nii.gz" for name in ["voxswap", *options.layouts]}
    for path in maps.values():
        path.parent.mkdir(exist_ok=True)
    runs = {name: [] for name in maps}
    for _ in range(options.rounds):
        runs["voxswap"].append(ours([options.program, "predict", run, "--input", case, "--out", options.work / "voxswap", "--force",
                                     "--window", sees, "--postprocessing", "none", "--quiet"]))
        for layout in options.layouts:
            text = quiet([sys.executable, HERE / "pytorch_prediction.py", weights, maps[layout], window, precision, layout, *files])
            runs[layout].append(json.loads(text.splitlines()[-1]))
            runs[layout][-1]["seconds"] -= runs[layout][-1]["loading_seconds"]
    seconds = {name: statistics.median(r["seconds"] for r in results) for name, results in runs.items()}
    best = min(options.layouts, key=seconds.get)
    peak = {name: max(r["peak_bytes"] for r in results) >> 20 for name, results in runs.items()}
    labels = {name: np.asarray(nibabel.load(maps[name]).dataobj) for name in ["voxswap", best]}
    return {"network": network, "sees": sees, "windows": runs[best][0]["windows"], "precision": precision,
            "voxswap_seconds": round(seconds["voxswap"], 2), "pytorch_seconds": round(seconds[best], 2), "layout": best,
            "speedup": round(seconds[best] / seconds["voxswap"], 2), "voxswap_peak_mib": peak["voxswap"],
            "pytorch_peak_mib": peak[best], "memory_ratio": round(peak["voxswap"] / peak[best], 3),
            "voxels_that_differ": int((labels["voxswap"] != labels[best]).sum()), "voxels": labels["voxswap"].size,
            "pytorch_network_seconds": round(statistics.median(r["network_seconds"] for r in runs[best]), 2),
            "seconds_of_all": "; ".join(f"{name} {s:.2f}" for name, s in seconds.items()),
            "pytorch_version": runs[best][0]["version"], "threads": len(os.sched_getaffinity(0)), "rounds": options.rounds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/voxswap"))
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--sees", nargs="+", default=["whole", "128"])
    parser.add_argument("--precisions", nargs="+", default=["f32", "bf16"])
    parser.add_argument("--layouts", nargs="+", default=["contiguous", "channels_last"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if not (options.work / "phantoms").exists():
        quiet([options.program, "phantom", "--out", options.work / "phantoms", "--cases", "2", "--size", "240,240,155"])
    case = sorted((options.work / "phantoms").glob("BraTS2021_*"))[0]

    rows = []
    for network in options.networks:
        for sees in options.sees:
            for precision in options.precisions:
                rows.append(compared(network, sees, precision, case, options))
                print(json.dumps(rows[-1]), flush=True)
                if options.csv:
                    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
