#!/usr/bin/env python3
"""Measures the Dice lost to a training grid alone: ground truth is resampled to the grid (nearest, as in preprocessing)
and back (linear, as for predictions), and compared with the original.

    bench/training_grid.py LABELS X,Y,Z...      every fourth file of the folder LABELS; needs numpy and nibabel
"""
import pathlib
import sys

import numpy as np

from compare_export import canonical, resized


def nearest(labels, sides):
    for axis, side in enumerate(sides):
        old = labels.shape[axis]
        at = np.round((np.arange(side) + 0.5) * old / side - 0.5).astype(int)
        labels = labels.take(np.clip(at, 0, old - 1), axis)
    return labels


def main():
    truths = [np.rint(canonical(path)) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.nii.gz"))[::4]]
    values = sorted(set(np.concatenate([np.unique(truth) for truth in truths])))
    for grid in sys.argv[2:]:
        sides = [int(side) for side in grid.split(",")][::-1]
        dice = {value: [] for value in values if value != 0}
        for truth in truths:
            small = nearest(truth, sides)
            back = np.stack([resized((small == value).astype(np.float32), truth.shape) for value in values]).argmax(0)
            for value, found in dice.items():
                there, said = truth == value, back == values.index(value)
                found.append(2 * (there & said).sum() / (there.sum() + said.sum()))
        print(grid, *(f"{value:g}: {np.mean(found):.4f}" for value, found in dice.items()), f"n = {len(truths)}", flush=True)


if __name__ == "__main__":
    main()
