#!/usr/bin/env python3
"""Compares samples per second with nnU-Net: loading and augmentation alone, on the same cores, in turns.

    pip install nnunetv2 torch             # in a virtual environment; a build of torch for CPUs is enough
    bench/compare_loading.py [--program build/release/bin/voxswap] [--turns 3] [--batches 80] [--side 128]
                             [--case 160 192 160] [--cores N] [--work FOLDER] [--processor NAME] [--csv FILE.csv]

Both make batches of 2 patches of SIDE^3 voxels with 4 channels and 3 labels from 4 random cases, with nnU-Net's
augmentation, and nothing trains meanwhile.
  voxswap: `voxswap bench --epoch --as h100`, which computes no network: "samples alone", a loader thread per core.
    Its cases are in memory, as in training.
  nnU-Net: the loader that nnUNetTrainer.get_dataloaders() returns, unchanged: nnUNetDataLoader, the transforms of
    get_training_transforms() for 3D (rotation of 30 degrees, deep supervision) and NonDetMultiThreadedAugmenter with
    a worker per core, which computes on one thread. It reads preprocessed cases from .b2nd files in the page cache.
  nnU-Net, cases in memory: the same loader, but its cases are arrays, so nothing is read or decompressed.
The batches that wait in queues are taken before the clock starts. The trainer gets plans with this patch size. Its
validation loader is stopped first. Needs 0.5 GB of disk for the default cases.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

import numpy as np

from rows import write_rows

BATCH, CASES, CHANNELS, LABELS = 2, 4, ("t1", "t1ce", "t2", "flair"), ("necrosis", "oedema", "enhancing")
DATASET, PLANS = "Dataset001_Loading", "nnUNetPlans_3d_fullres"
DESCRIPTION = {"channel_names": {str(i): name for i, name in enumerate(CHANNELS)}, "numTraining": CASES,
               "labels": {"background": 0, **{name: i + 1 for i, name in enumerate(LABELS)}}, "file_ending": ".nii.gz"}


def write_cases(folder, size, side):
    """Writes random cases as nnU-Net's preprocessing does; labels are blocks of 8^3 voxels, half of them background."""
    from nnunetv2.preprocessing.preprocessors.default_preprocessor import DefaultPreprocessor
    from nnunetv2.training.dataloading.nnunet_dataset import comp_blosc2_params, nnUNetDatasetBlosc2
    generator = np.random.default_rng(1)
    folder.mkdir(parents=True)
    for number in range(CASES):
        image = generator.standard_normal((len(CHANNELS), *size), dtype=np.float32)
        drawn = generator.integers(2 * len(LABELS) + 2, size=[-(-length // 8) for length in size])
        blocks = np.where(drawn <= len(LABELS), drawn, 0).astype(np.int16)
        labels = np.kron(blocks, np.ones((8, 8, 8), np.int16))[tuple(slice(length) for length in size)][None]
        locations = DefaultPreprocessor._sample_foreground_locations(labels, list(range(1, len(LABELS) + 1)))
        layout = {}
        for array, suffix in ((image, ""), (labels, "_seg")):
            block, chunk = comp_blosc2_params(array.shape, (side,) * 3, array.itemsize)
            layout |= {f"blocks{suffix}": block, f"chunks{suffix}": chunk}
        nnUNetDatasetBlosc2.save_case(image, labels, {"class_locations": locations}, str(folder / f"case{number}"), **layout)


def measure_nnunet(side, batches, workers, in_memory):
    """Returns samples per second; runs in a process of its own, in nnU-Net's environment."""
    import torch
    from nnunetv2.training.dataloading.nnunet_dataset import nnUNetDatasetBlosc2
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

    class CasesInMemory(nnUNetDatasetBlosc2):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            files = {name: super(CasesInMemory, self).load_case(name) for name in self.identifiers}
            self.cases = {name: (image[:], labels[:], None, properties) for name, (image, labels, _, properties) in files.items()}

        def load_case(self, identifier):
            return self.cases[identifier]

    torch.set_num_threads(1)
    strides = [[1, 1, 1]] + 5 * [[2, 2, 2]]  # nnU-Net's plan for 128^3; gives the sizes for deep supervision
    plans = {"dataset_name": DATASET, "plans_name": "nnUNetPlans", "continue_training": False, "configurations": {"3d_fullres": {
        "data_identifier": PLANS, "batch_size": BATCH, "patch_size": [side] * 3, "use_mask_for_norm": [False] * len(CHANNELS),
        "architecture": {"arch_kwargs": {"strides": strides}}}}}
    trainer = nnUNetTrainer(plans, "3d_fullres", "all", DESCRIPTION, device=torch.device("cpu"))
    trainer._set_batch_size_and_oversample()
    trainer.dataset_class = CasesInMemory if in_memory else nnUNetDatasetBlosc2
    training, validation = trainer.get_dataloaders()
    validation._finish()
    for _ in range(2 * training.num_cached + 2 * workers):  # two queues, and what the workers had begun
        next(training)
    begun = time.perf_counter()
    for _ in range(batches):
        batch = next(training)
    seconds = time.perf_counter() - begun
    assert tuple(batch["data"].shape) == (BATCH, len(CHANNELS), side, side, side)
    training._finish()
    return BATCH * batches / seconds


def last_line(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def nnunet(options, work, in_memory):
    """Starts measure_nnunet() with the environment variables of nnUNetv2_train."""
    folders = {f"nnUNet_{name}": str(work / name) for name in ("raw", "preprocessed", "results")}
    environment = {**os.environ, **folders, "nnUNet_n_proc_DA": str(options.cores), "OMP_NUM_THREADS": "1"}
    return float(last_line([sys.executable, __file__, "--side", str(options.side), "--batches", str(options.batches),
                            "--cores", str(options.cores), "--measure-nnunet", "memory" if in_memory else "files"], environment))


def voxswap(options, work):
    experiment = {"name": "loading", "data": {"root": "none", "modalities": CHANNELS, "labels": dict(zip(LABELS, (1, 2, 4)))},
                  "preprocess": {"resolution": options.case[::-1]},
                  "training": {"patch": options.side, "batch_size": BATCH, "augment": "nnunet", "loader_threads": options.cores}}
    file = work / "loading.yaml"
    file.write_text(json.dumps(experiment))
    done = subprocess.run([options.program, "bench", file, "--epoch", "--as", "h100", "--steps", str(options.batches), "--json"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("voxswap bench failed")
    epoch = json.loads(done.stdout)["epoch"]
    assert epoch["loader_threads"] == options.cores
    return epoch["samples_per_second"]


def processor():
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":", 1)[1].strip() if names else "unknown"


def compare(options, work):
    write_cases(work / "preprocessed" / DATASET / PLANS, options.case, options.side)
    ours = last_line([options.program, "--version"]).split()[-1]
    theirs = f"{version('nnunetv2')}, batchgeneratorsv2 {version('batchgeneratorsv2')}, torch {version('torch')}"
    programs = {"voxswap": (ours, lambda: voxswap(options, work)),
                "nnU-Net": (theirs, lambda: nnunet(options, work, in_memory=False)),
                "nnU-Net, cases in memory": (theirs, lambda: nnunet(options, work, in_memory=True))}
    rates = {name: [] for name in programs}
    for turn in range(options.turns):
        for name, (_, measure) in programs.items():
            rates[name].append(measure())
            print(f"turn {turn + 1}, {name}: {rates[name][-1]:.3f} samples per second", flush=True)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    rows = [{"program": name, "version": programs[name][0], "workers": options.cores, "side": options.side,
             "channels": len(CHANNELS), "case": " x ".join(map(str, options.case)), "batch_size": BATCH,
             "batches": options.batches, "turns": options.turns, "samples_per_second": round(medians[name], 3),
             "least": round(min(found), 3), "most": round(max(found), 3),
             "voxswap_ratio": round(medians["voxswap"] / medians[name], 2), "processor": options.processor}
            for name, found in rates.items()]
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
    for name in list(medians)[1:]:
        print(f"voxswap makes {medians['voxswap'] / medians[name]:.2f} times as many samples per second as {name}")
    if options.csv:
        write_rows(options.csv, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/voxswap"))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--batches", type=int, default=80, help="measured in each turn, after the warm-up")
    parser.add_argument("--side", type=int, default=128, help="of a patch; at least 64")
    parser.add_argument("--case", type=int, nargs=3, default=[160, 192, 160], help="size of a case in voxels")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="the first N that may be used")
    parser.add_argument("--work", type=pathlib.Path, help="folder for temporary files")
    parser.add_argument("--processor", default=processor(), help="its name, for the rows")
    parser.add_argument("--csv")
    parser.add_argument("--measure-nnunet", choices=("files", "memory"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_nnunet:
        print(measure_nnunet(options.side, options.batches, options.cores, options.measure_nnunet == "memory"))
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cores])  # also of the programs that it starts
    options.cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        compare(options, pathlib.Path(work))


if __name__ == "__main__":
    main()
