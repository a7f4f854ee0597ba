#!/usr/bin/env python3
"""Compares an exported network in ONNX Runtime or PyTorch with `voxswap predict --probabilities` on one case: the
largest difference of probabilities, and the number of differing label voxels.

All other steps are reimplemented with NumPy: reorientation, crop, resizing, normalisation, mapping back to the case's
grid, and the labels (docs/how_to/export.md shows a ten-line version).

Usage: python3 compare_export.py [--to onnx|pytorch] --program build/release/bin/voxswap --input CASE RUN CHANNEL.nii.gz...
       CASE is what predict reads, the channels are its files in the order of the run's modalities (a folder of a data
       set or a 4D file has them too). Needs numpy, nibabel and onnxruntime or torch; used with 2.4, 5.4, 1.32 and 2.15.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import tempfile

import nibabel
import numpy as np


def canonical(path):
    """Returns the voxels as z, y, x in LPS, and the function that restores the original orientation."""
    image = nibabel.load(path)
    turn = nibabel.orientations.io_orientation(image.affine)
    turn[:, 1] *= [-1 if axis < 2 else 1 for axis in turn[:, 0]]  # nibabel's frame is RAS
    voxels = np.asarray(image.dataobj, np.float32)
    return np.ascontiguousarray(nibabel.orientations.apply_orientation(voxels, turn).T)


def resized(volume, sides):
    """Resizes linearly with aligned voxel centres, clamped at the edge."""
    for axis, side in enumerate(sides):
        old = volume.shape[axis]
        at = np.clip((np.arange(side) + 0.5) * old / side - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape([-1 if a == axis else 1 for a in range(3)])
        high = np.minimum(low + 1, old - 1)
        volume = volume.take(low, axis) * (1 - share) + volume.take(high, axis) * share
    return volume.astype(np.float32)


def box_of(channels, backgrounds):
    some = np.any([c != b for c, b in zip(channels, backgrounds)], axis=0)
    if not some.any():
        return tuple(slice(0, n) for n in some.shape)
    places = np.nonzero(some)
    return tuple(slice(max(p.min() - 1, 0), min(p.max() + 2, n)) for p, n in zip(places, some.shape))


def normalised(volume, background, prepare, mean, deviation):
    how, inside = prepare["normalize"], volume != background
    if how in ("image", "masked"):
        mean, deviation = volume[inside].mean(dtype=np.float64), volume[inside].std(dtype=np.float64)
    if how == "whole":
        mean, deviation = volume.mean(dtype=np.float64), volume.std(dtype=np.float64)
    if how == "none":
        return volume
    result = (volume - mean) * (1 / deviation if deviation > 0 else 1)
    return (result * inside if how == "masked" else result).astype(np.float32)


def prepared(channels, about):
    prepare = json.loads(about["preprocess"])
    assert not prepare["bias_correction"] and prepare["clip_percentiles"] == [0, 100], "not done here"
    backgrounds = [c[0, 0, 0] if prepare["background"] == "corner" else prepare["background"] for c in channels]
    box = box_of(channels, backgrounds) if prepare["crop"] == "foreground" else (slice(None),) * 3
    norm = json.loads(about["normalization"])
    sides = prepare["resolution"][::-1]
    if prepare["slices"] == "axial":
        sides[0] = len(range(*box[0].indices(channels[0].shape[0])))
    image = []
    for i, (channel, background) in enumerate(zip(channels, backgrounds)):
        small = resized(channel[box], sides)
        mean, deviation = (norm["mean"][i], norm["deviation"][i]) if norm["mean"] else (0, 1)
        image.append(normalised(small, background, prepare, mean, deviation))
    return np.stack(image), box


def in_onnx_runtime(file):
    """Returns the metadata, the rank of the input, and the network as a function."""
    import onnxruntime
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    rank = len(session.get_inputs()[0].shape)
    return session.get_modelmeta().custom_metadata_map, rank, lambda image: session.run(None, {"image": image})[0]


def loaded_network(file):
    """Loads the network with the Python file that `voxswap export --to pytorch` writes beside the weights."""
    spec = importlib.util.spec_from_file_location("model", pathlib.Path(file).with_suffix(".py"))
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    return model.load(file)


def in_pytorch(file):
    import torch
    network = loaded_network(file)
    rank = 4 if any(p.dim() == 4 for p in network.parameters()) else 5

    def say(image):
        with torch.no_grad():
            return network.probabilities(torch.from_numpy(image)).numpy()

    return network.about, rank, say


def probabilities(rank, say, image):
    """Returns probabilities C,D,H,W of an image C,D,H,W: at once, or plane by plane for a 2D network."""
    if rank == 5:
        return say(np.ascontiguousarray(image[None]))[0]
    return say(np.ascontiguousarray(image.transpose(1, 0, 2, 3))).transpose(1, 0, 2, 3)  # planes are the batch


def decided(maps, rule):
    labels, best = np.zeros(maps[0].shape, np.int16), np.zeros(maps[0].shape, np.float32)
    for c in rule["sequence"]:
        here = maps[c] >= rule["least"]
        if rule["exclusive"]:
            here &= maps[c] > best
            best = np.maximum(best, maps[c])
        labels[here] = rule["labels"][c]
    return labels


def on_own_grid(maps, box, shape):
    """Maps the training grid back to the grid of the case's files, where it covers `box`."""
    result = []
    for small in maps:
        whole = np.zeros(shape, np.float32)
        whole[box] = resized(small, whole[box].shape)
        result.append(whole)
    return result


def label_map(maps, box, rule):
    inside = np.zeros(maps[0].shape, bool)
    inside[box] = True
    return decided(maps, rule) * inside


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bin/voxswap")
    parser.add_argument("--to", choices=["onnx", "pytorch"], default="onnx")
    parser.add_argument("--input", required=True)
    parser.add_argument("run")
    parser.add_argument("channels", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/model." + ("onnx" if given.to == "onnx" else "safetensors")
        subprocess.run([given.program, "export", given.run, "--to", given.to, "--out", file], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([given.program, "predict", given.run, "--input", given.input, "--out", f"{folder}/ours",
                        "--probabilities", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        about, rank, say = in_onnx_runtime(file) if given.to == "onnx" else in_pytorch(file)
        channels = [canonical(path) for path in given.channels]
        image, box = prepared(channels, about)
        maps = on_own_grid(probabilities(rank, say, image), box, channels[0].shape)
        case = next(pathlib.Path(f"{folder}/ours").glob("*.nii.gz")).name.removesuffix(".nii.gz")
        for name, ours in zip(json.loads(about["outputs"]), maps):
            theirs = canonical(f"{folder}/ours/probabilities/{case}_{name}.nii.gz")
            print(f"{case} {name}: probabilities to {theirs.max():.3f}, largest difference {np.abs(theirs - ours).max():.2e}")
        labels = label_map(maps, box, json.loads(about["decide"]))
        differ = int((labels != canonical(f"{folder}/ours/{case}.nii.gz")).sum())
        print(f"{case}: {differ} of {labels.size} voxels have another label, {int((labels > 0).sum())} have one")


if __name__ == "__main__":
    main()
