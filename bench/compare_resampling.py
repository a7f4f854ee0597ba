#!/usr/bin/env python3
"""Compares resampling to one voxel size with nnU-Net and MONAI: same files, same cores, in turns in the same run.

    pip install nnunetv2 monai nibabel      # in a virtual environment
    bench/compare_resampling.py DATASET [--spacing 1.25] [--rounds 2] [--csv FILE.csv]
                                [--program build/release/bin/preparing]

DATASET: BraTS 2021's layout, as `voxswap phantom --cases 4 --size 240,240,155` writes it. Each case is read (four
channels and the label map), cropped to its non-zero box, resampled to SPACING mm and written to a cache folder. nnU-Net
runs its own preprocessor's functions: reader, crop, normalization, cubic resampling. MONAI runs the transforms of its
tutorials: LoadImaged, CropForegroundd, Spacingd (linear), NormalizeIntensityd; and the same with cubic splines (from
SciPy). All use one process per core and exclude imports. Voxels are counted in the files, over all channels. On a busy
machine, compare processor seconds.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import numpy as np

from rows import write_rows

CHANNELS = ["t1", "t1ce", "t2", "flair"]


def files_of(folder):
    return [str(folder / f"{folder.name}_{name}.nii.gz") for name in [*CHANNELS, "seg"]]


def nnunet(task):
    from nnunetv2.imageio.simpleitk_reader_writer import SimpleITKIO
    from nnunetv2.preprocessing.cropping.cropping import crop_to_nonzero
    from nnunetv2.preprocessing.normalization.default_normalization_schemes import ZScoreNormalization
    from nnunetv2.preprocessing.resampling.default_resampling import compute_new_shape, resample_data_or_seg_to_shape
    folder, spacing, cache = task
    *images, truth = files_of(folder)
    reader = SimpleITKIO()
    data, properties = reader.read_images(images)
    labels, _ = reader.read_seg(truth)
    data, labels, _ = crop_to_nonzero(data, labels)
    old, new = properties["spacing"], [spacing] * 3
    shape = compute_new_shape(data.shape[1:], old, new)
    for channel in range(len(data)):
        scheme = ZScoreNormalization(use_mask_for_norm=True, intensityproperties={}, target_dtype=np.float32)
        data[channel] = scheme.run(data[channel], labels[0])
    data = resample_data_or_seg_to_shape(data, shape, old, new, is_seg=False, order=3, order_z=0)
    labels = resample_data_or_seg_to_shape(labels, shape, old, new, is_seg=True, order=1, order_z=0)
    np.save(cache / f"{folder.name}.npy", data)
    np.save(cache / f"{folder.name}_truth.npy", labels)


def monai(task, mode="bilinear", padding="border"):
    from monai import transforms
    folder, spacing, cache = task
    *images, truth = files_of(folder)
    keys = ["image", "label"]
    prepared = transforms.Compose([
        transforms.LoadImaged(keys, ensure_channel_first=True),
        transforms.CropForegroundd(keys, source_key="image"),
        transforms.Spacingd(keys, pixdim=[spacing] * 3, mode=[mode, "nearest"],
                            padding_mode=[padding, "border"]),
        transforms.NormalizeIntensityd("image", nonzero=True, channel_wise=True)])({"image": images, "label": truth})
    np.save(cache / f"{folder.name}.npy", prepared["image"].numpy())
    np.save(cache / f"{folder.name}_truth.npy", prepared["label"].numpy())


def monai_cubic(task):
    monai(task, 3, "nearest")  # SciPy's name of the border mode


def processor_seconds(task):
    work, of = task
    began = time.process_time()
    work(of)
    return time.process_time() - began


def start():
    import monai.transforms, nnunetv2.imageio.simpleitk_reader_writer, SimpleITK, torch  # noqa: F401
    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    torch.set_num_threads(1)


def in_processes(work, folders, spacing, cores):
    with tempfile.TemporaryDirectory() as cache, multiprocessing.get_context("spawn").Pool(cores, start) as pool:
        pool.map(time.sleep, [1] * cores, chunksize=1)  # all processes have finished their imports
        began = time.perf_counter()
        tasks = [(work, (folder, spacing, pathlib.Path(cache))) for folder in folders]
        busy = sum(pool.map(processor_seconds, tasks, chunksize=1))
        return time.perf_counter() - began, busy


def voxswap(program, root, spacing):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([program, root, f"{spacing}mm", cache], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])["seconds"], used() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("--spacing", type=float, default=1.25)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--csv")
    parser.add_argument("--program", default=pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/preparing")
    options = parser.parse_args()
    import nibabel
    folders = sorted(path for path in options.dataset.iterdir() if path.is_dir())
    voxels = sum(int(np.prod(nibabel.load(file).shape)) for folder in folders for file in files_of(folder)[:-1])
    cores = len(os.sched_getaffinity(0))
    methods = {"voxswap": lambda: voxswap(options.program, options.dataset, options.spacing),
               "nnU-Net": lambda: in_processes(nnunet, folders, options.spacing, cores),
               "MONAI, linear": lambda: in_processes(monai, folders, options.spacing, cores),
               "MONAI, cubic": lambda: in_processes(monai_cubic, folders, options.spacing, cores)}
    rows = []
    for turn in range(options.rounds):
        for name, method in methods.items():
            wall, busy = method()
            rows.append({"way": name, "turn": turn + 1, "cases": len(folders), "spacing_mm": options.spacing,
                         "cores": cores, "seconds": round(wall, 2), "processor_seconds": round(busy, 2)})
            print(f"{name}: {wall:.1f} s, of processors {busy:.1f} s", flush=True)
            if options.csv:
                write_rows(options.csv, rows)
    for column in ("seconds", "processor_seconds"):
        median = {name: statistics.median(row[column] for row in rows if row["way"] == name) for name in methods}
        for name, middle in median.items():
            print(f"{name}: median {column} {middle:.2f}, {voxels / middle / 1e6:.1f} Mvoxel/s, "
                  f"{middle / median['voxswap']:.2f} times voxswap's")


if __name__ == "__main__":
    main()
