#!/usr/bin/env python3
"""Compares the choices of voxswap configure for the Decathlon's data sets with those of nnU-Net v2's planner.

    pip install nnunetv2 nibabel           # in a virtual environment
    bench/decathlon.py FOLDER [--program build/release/bin/voxswap] [--csv FILE.csv] [--sets 1,4] [--memory 8,24,80]
    bench/decathlon.py FOLDER --sets 501,502        # data sets that `voxswap convert` wrote to FOLDER/raw
    bench/decathlon.py FOLDER --only voxswap        # without nnU-Net's planner: needs nibabel alone

Needs no images: every data set is three cases of its published median size and spacing (Isensee et al. 2021,
supplementary tables; at nnU-Net's target spacing), with a box of each label in noise. Both planners see the same files.
Memory for training in GiB; voxswap plans for an H100 from typical costs.
"""
import argparse
import csv
import itertools
import json
import os
import pathlib
import subprocess

SETS = {  # number: name, size x,y,z, spacing in mm, channels, labels, training cases
    1: ("BrainTumour", (240, 240, 155), (1, 1, 1), ["FLAIR", "T1w", "t1gd", "T2w"], 3, 484),
    2: ("Heart", (320, 320, 115), (1.25, 1.25, 1.37), ["MRI"], 1, 20),
    3: ("Liver", (512, 512, 482), (0.77, 0.77, 1), ["CT"], 2, 131),
    4: ("Hippocampus", (35, 50, 36), (1, 1, 1), ["MRI"], 2, 260),
    5: ("Prostate", (320, 320, 20), (0.62, 0.62, 3.6), ["T2", "ADC"], 2, 32),
    6: ("Lung", (512, 512, 252), (0.79, 0.79, 1.24), ["CT"], 1, 63),
    7: ("Pancreas", (512, 512, 96), (0.8, 0.8, 2.5), ["CT"], 2, 281),
    9: ("Spleen", (512, 512, 187), (0.79, 0.79, 1.6), ["CT"], 1, 41),
}
HEADS = {"BrainTumour": (138, 169, 138)}  # median after the crop; the other sets have no background to crop
WRITTEN = 3  # cases; nnU-Net limits the batch by the published number of cases


def write_case(folder, index, spec):
    import nibabel
    import numpy
    nibabel.openers.Opener.default_compresslevel = 1
    name, size, spacing, channels, labels, _ = spec
    random = numpy.random.default_rng(index)
    affine = numpy.diag([*spacing, 1.0])
    is_ct = channels == ["CT"]
    truth = numpy.zeros(size, numpy.uint8)
    head = HEADS.get(name, size)
    inside = tuple(slice((s - h) // 2, (s - h) // 2 + h) for s, h in zip(size, head))
    middle = tuple(slice(s // 3, s - s // 3) for s in size)
    for label in range(1, labels + 1):
        box = tuple(slice(m.start + label, m.stop - 2 * label) for m in middle)
        truth[box] = label
    for number, _ in enumerate(channels):
        image = numpy.zeros(size, numpy.int16)
        values = random.integers(-1000, 400, 4096) if is_ct else random.integers(1, 1000, 4096)
        image[inside] = numpy.resize(values, image[inside].shape).astype(numpy.int16)
        nibabel.save(nibabel.Nifti1Image(image, affine),
                     folder / "imagesTr" / f"case_{index}_{number:04}.nii.gz")
    nibabel.save(nibabel.Nifti1Image(truth, affine), folder / "labelsTr" / f"case_{index}.nii.gz")


def write_set(folder, spec):
    name, _, _, channels, labels, cases = spec
    (folder / "imagesTr").mkdir(parents=True)
    (folder / "labelsTr").mkdir()
    for index in range(WRITTEN):
        write_case(folder, index, spec)
    (folder / "dataset.json").write_text(json.dumps({
        "name": name, "channel_names": {str(i): channel for i, channel in enumerate(channels)},
        "labels": {"background": 0} | {f"label_{i}": i for i in range(1, labels + 1)},
        "numTraining": cases, "file_ending": ".nii.gz"}))


def text(numbers):
    return "x".join(f"{float(n):g}" for n in numbers)


def nnunet_rows(root, number, name, memories):
    run = lambda *words: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    run("nnUNetv2_extract_fingerprint", "-d", str(number), "-np", "1")
    for memory in memories:
        plans = f"plans_{memory}"
        run("nnUNetv2_plan_experiment", "-d", str(number), "-gpu_memory_target", str(memory),
            "-overwrite_plans_name", plans)
        path = root / "preprocessed" / f"Dataset{number:03}_{name}" / f"{plans}.json"
        plans = json.loads(path.read_text())
        of = plans["configurations"]["3d_fullres"]
        # plans.json has axes in array order z, y, x, transposed so that the largest spacing comes first.
        axes = lambda values: text([values[i] for i in plans["transpose_backward"]][::-1])
        network = of["architecture"]["arch_kwargs"]
        yield [name, memory, "nnU-Net", axes(of["spacing"]), axes(of["patch_size"]), of["batch_size"],
               " ".join(axes(level) for level in network["strides"][1:]),
               " ".join(axes(level) for level in network["kernel_sizes"]),
               of["normalization_schemes"][0].replace("Normalization", "")]


def voxswap_rows(root, number, name, program, memories):
    for memory in memories:
        out = root / f"{name}_{memory}.yaml"
        out.unlink(missing_ok=True)
        answer = subprocess.run(
            [program, "configure", root / "raw" / f"Dataset{number:03}_{name}", "--out", out, "--as", "h100",
             "--memory", f"{memory}GiB", "--hours", "24", "--folds", "3", "--json", "--quiet",
             f"data.cache={root / 'cache'}"], check=True, stdout=subprocess.PIPE, text=True).stdout
        of = json.loads(answer)
        chosen, keys = of["candidates"][of["chosen"]], of["experiment"]
        value = lambda key, otherwise: keys.get(key, {"value": otherwise})["value"]
        depth = int(value("network.depth", "0"))
        levels = lambda key, otherwise: [
            text(level) if isinstance(level, list) else text([level] * 3)
            for level in json.loads(value(key, json.dumps([otherwise] * depth)))]
        yield [name, memory, "voxswap", text(json.loads(value("preprocess.spacing", "[]"))), text(chosen["size"]),
               chosen["batch"], " ".join(levels("network.strides", 2)[1:]), " ".join(levels("network.kernels", 3)),
               value("preprocess.normalize", "")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default="build/release/bin/voxswap")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(map(str, SETS)))
    parser.add_argument("--memory", default="8,24,80")
    parser.add_argument("--only", choices=["nnunet", "voxswap"])
    given = parser.parse_args()
    root = given.folder.resolve()
    for name in ("raw", "preprocessed", "results"):
        os.environ[f"nnUNet_{name}"] = str(root / name)
    head = ["data_set", "memory_gib", "program", "spacing", "patch", "batch", "strides", "kernels", "normalization"]
    out = open(given.csv, "w", newline="") if given.csv else None
    rows = csv.writer(out) if out else None
    if rows:
        rows.writerow(head)
    memories = [int(memory) for memory in given.memory.split(",")]
    for number in map(int, given.sets.split(",")):
        there = list((root / "raw").glob(f"Dataset{number:03}_*"))
        name = there[0].name.split("_", 1)[1] if there else SETS[number][0]
        if not there:
            write_set(root / "raw" / f"Dataset{number:03}_{name}", SETS[number])
        planners = {"nnunet": nnunet_rows(root, number, name, memories),
                    "voxswap": voxswap_rows(root, number, name, given.program.resolve(), memories)}
        for row in itertools.chain(*(planners[given.only],) if given.only else planners.values()):
            print(*row, sep=" | ", flush=True)
            if rows:  # save after every set: the large ones take minutes each
                rows.writerow(row)
                out.flush()


if __name__ == "__main__":
    main()
