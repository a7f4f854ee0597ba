#!/usr/bin/env python3
"""Compares augmentation with SciPy: the same rotation and zoom, single-threaded, in the same run, in processor time.

SciPy interpolates images with ndimage.map_coordinates (order 1), one channel at a time, and labels as nnU-Net's
augmentation library does: each label's indicator with order 1, then a threshold. Both times include the coordinates.

Usage: bench/compare_augmentation.py [--side 128] [--channels 4] [--repeats 5] [--program build/release/bin/augmentation]
Writes CSV to standard output: name,milliseconds. Needs numpy and scipy.
"""
import argparse
import statistics
import subprocess
import time

import numpy as np
from scipy import ndimage
from scipy.spatial.transform import Rotation

parser = argparse.ArgumentParser()
parser.add_argument("--side", type=int, default=128)
parser.add_argument("--channels", type=int, default=4)
parser.add_argument("--repeats", type=int, default=5)
parser.add_argument("--program", default="build/release/bin/augmentation")
arguments = parser.parse_args()
side = arguments.side


def positions():
    centre = (side - 1) / 2
    back = np.linalg.inv(Rotation.from_euler("xyz", (12, 12, 12), degrees=True).as_matrix() * 1.1)
    grid = np.stack(np.meshgrid(*[np.arange(side) - centre] * 3, indexing="ij")).reshape(3, -1)
    return (back @ grid).reshape(3, side, side, side) + centre


def median_milliseconds(work):
    seconds = []
    for _ in range(arguments.repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return 1e3 * statistics.median(seconds)


generator = np.random.default_rng(1)
image = generator.random((arguments.channels, side, side, side), dtype=np.float32)
distance = np.linalg.norm(np.indices((side,) * 3) - side // 2, axis=0) / side
labels = np.select([distance < 0.1, distance < 0.15, distance < 0.25], [4, 1, 2], 0).astype(np.int16)


def read_image():
    at = positions()
    for channel in image:
        ndimage.map_coordinates(channel, at, order=1, mode="nearest")


def read_labels():
    at = positions()
    result = np.zeros_like(labels)
    for label in np.unique(labels):
        result[ndimage.map_coordinates((labels == label).astype(np.float32), at, order=1, mode="nearest") >= 0.5] = label


print("name,milliseconds")
print(subprocess.run([arguments.program, str(side), str(arguments.channels), str(arguments.repeats)], check=True,
                     capture_output=True, text=True).stdout, end="")
print(f"\"rotation and zoom: image, SciPy\",{median_milliseconds(read_image):.2f}")
print(f"\"rotation and zoom: labels, SciPy\",{median_milliseconds(read_labels):.2f}")
