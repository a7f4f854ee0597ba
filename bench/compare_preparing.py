#!/usr/bin/env python3
"""Compares preprocessing of a data set with SimpleITK: the same steps on the same cores, in turns in the same run.

    bench/compare_preparing.py DATASET [--side 128] [--rounds 1] [--csv FILE.csv]
                               [--program build/release/bin/preparing]

DATASET: BraTS 2021's layout, as `voxswap phantom --cases 100 --size 240,240,155` writes it. Steps: read four channels
and the label map, crop to the non-zero box plus 1 voxel, resize to SIDE^3 (linear, labels nearest), compute each
channel's mean and deviation of non-zero voxels, write to a cache folder. SimpleITK runs in one single-threaded process
per core, or in one process with its own threads: the faster counts. Reports seconds, peak resident memory (sum of all
processes) and the largest difference between the two programs' statistics.
Needs SimpleITK and numpy.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np
import SimpleITK as sitk

from rows import write_rows

CHANNELS = ["t1", "t1ce", "t2", "flair"]


def foreground_box(arrays):
    some = np.zeros(arrays[0].shape, bool)
    for array in arrays:
        some |= array != 0
    box = []
    for axis in range(3):
        there = np.flatnonzero(some.any(axis=tuple(a for a in range(3) if a != axis)))
        begin, end = max(int(there[0]) - 1, 0), min(int(there[-1]) + 2, some.shape[axis])  # 1 voxel of margin
        box.append((begin, end - begin))
    return [begin for begin, _ in box[::-1]], [size for _, size in box[::-1]]


def resized(image, side, interpolator):
    """Resizes with aligned voxel centres: the first new centre is half a new voxel from the crop's edge."""
    size, spacing = np.array(image.GetSize(), float), np.array(image.GetSpacing())
    new_spacing = spacing * size / side
    direction = np.array(image.GetDirection()).reshape(3, 3)
    origin = np.array(image.GetOrigin()) + direction @ ((new_spacing - spacing) / 2)
    # Beyond the centre of the last voxel, repeat the edge value, as voxswap does.
    padded = sitk.ZeroFluxNeumannPad(image, [1] * 3, [1] * 3)
    return sitk.Resample(padded, [side] * 3, sitk.Transform(), interpolator, origin.tolist(), new_spacing.tolist(),
                         image.GetDirection(), 0, image.GetPixelID())


def prepare(task):
    folder, side, cache = task
    name = folder.name
    images = [sitk.ReadImage(str(folder / f"{name}_{channel}.nii.gz"), sitk.sitkFloat32) for channel in CHANNELS]
    truth = sitk.ReadImage(str(folder / f"{name}_seg.nii.gz"))
    begin, size = foreground_box([sitk.GetArrayViewFromImage(image) for image in images])
    mean, deviation, arrays = [], [], []
    for image in images:
        array = sitk.GetArrayFromImage(resized(sitk.RegionOfInterest(image, size, begin), side, sitk.sitkLinear))
        foreground = array[array != 0].astype(np.float64)
        mean.append(float(foreground.mean()))
        deviation.append(float(foreground.std()))
        arrays.append(array)
    labels = resized(sitk.RegionOfInterest(truth, size, begin), side, sitk.sitkNearestNeighbor)
    np.save(pathlib.Path(cache) / f"{name}.npy", np.stack(arrays, axis=-1))
    np.save(pathlib.Path(cache) / f"{name}_truth.npy", sitk.GetArrayFromImage(labels).astype(np.int16))
    return name, mean, deviation


def one_thread():
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(1)


def simpleitk(folders, side, processes):
    """Measures in its own process (with children); returns seconds, peak bytes, statistics."""
    with tempfile.TemporaryDirectory() as cache:
        tasks = [(folder, side, cache) for folder in folders]
        start = time.perf_counter()
        if processes == 1:
            done = [prepare(task) for task in tasks]
        else:
            with multiprocessing.Pool(processes, one_thread) as pool:
                done = pool.map(prepare, tasks, chunksize=1)
        seconds = time.perf_counter() - start
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    peak = 1024 * (own if processes == 1 else own + processes * children)
    return {"seconds": seconds, "peak_bytes": peak, "statistics": {name: [mean, deviation] for name, mean, deviation in done}}


def in_a_process(work, *arguments):
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: send.send(work(*arguments)))
    process.start()
    result = receive.recv()
    process.join()
    return result


def voxswap(program, root, side):
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([program, root, str(side), cache], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--csv")
    parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/preparing"))
    options = parser.parse_args()
    folders = sorted(path for path in pathlib.Path(options.dataset).iterdir() if path.is_dir())
    cores = len(os.sched_getaffinity(0))
    methods = {"voxswap": lambda: voxswap(options.program, options.dataset, options.side),
               f"SimpleITK, {cores} processes": lambda: in_a_process(simpleitk, folders, options.side, cores),
               "SimpleITK, its threads": lambda: in_a_process(simpleitk, folders, options.side, 1)}
    if cores == 1:
        methods.pop("SimpleITK, 1 processes")
    results = {name: [] for name in methods}
    for _ in range(options.rounds):
        for name, method in methods.items():
            results[name].append(method())
    ours = results["voxswap"][0]["statistics"]
    rows = []
    for name, runs in results.items():
        seconds = statistics.median(run["seconds"] for run in runs)
        difference = max(float(np.max(np.abs(np.array(run["statistics"][case]) / np.array(ours[case]) - 1)))
                         for run in runs for case in ours)
        rows.append({"way": name, "cases": len(folders), "side": options.side, "seconds": round(seconds, 3),
                     "cases_per_second": round(len(folders) / seconds, 4),
                     "peak_mib": max(run["peak_bytes"] for run in runs) >> 20,
                     "statistics_differ_by": f"{difference:.1e}"})
    best = max(row["cases_per_second"] for row in rows[1:])
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
    print(f"voxswap is {rows[0]['cases_per_second'] / best:.2f} times as fast")
    if options.csv:
        write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
