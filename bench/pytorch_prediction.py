#!/usr/bin/env python3
"""The PyTorch reference for `voxswap predict`: the same weights on the same case, from channel files to label map.
Prints one line of JSON.

    pytorch_prediction.py MODEL.safetensors OUT.nii.gz whole|X,Y,Z f32|bf16 contiguous|channels_last CHANNEL.nii.gz...

MODEL is written by `voxswap export --to pytorch`. All steps but the network are those of compare_export.py. Windows are
spaced evenly with half overlap and averaged with Gaussian weights (sigma: 1/8 of the window), as in nnU-Net.
"""
import json
import os
import resource
import sys
import time

import nibabel
import numpy as np
import torch

from compare_export import canonical, label_map, loaded_network, on_own_grid, prepared


def network_of(file, precision, layout):
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    memory_format = torch.channels_last_3d if layout == "channels_last" else torch.contiguous_format
    network = loaded_network(file).to(memory_format=memory_format)

    def say(image):
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            return network.probabilities(torch.from_numpy(image).to(memory_format=memory_format)).float().numpy()

    return network.about, say, torch.__version__


def starts(side, window):
    """Returns the start positions of windows along an axis."""
    if window >= side:
        return [0]
    many = -(-(side - window) // (window // 2)) + 1
    return [round(i * (side - window) / (many - 1)) for i in range(many)]


def gaussian(window):
    weight = np.ones(window, np.float32)
    for axis, side in enumerate(window):
        along = np.exp(-0.5 * ((np.arange(side) - (side - 1) / 2) / (side / 8)) ** 2)
        weight *= along.reshape([-1 if a == axis else 1 for a in range(3)]).astype(np.float32)
    return weight


def in_windows(say, image, window):
    """Returns probabilities C,D,H,W of an image C,D,H,W, and the number of windows."""
    window = tuple(min(w, side) for w, side in zip(window, image.shape[1:]))
    weight, total, count = gaussian(window), np.zeros(image.shape[1:], np.float32), 0
    result = None
    for z in starts(image.shape[1], window[0]):
        for y in starts(image.shape[2], window[1]):
            for x in starts(image.shape[3], window[2]):
                here = (slice(z, z + window[0]), slice(y, y + window[1]), slice(x, x + window[2]))
                found = say(np.ascontiguousarray(image[(slice(None), *here)][None]))[0]
                if result is None:
                    result = np.zeros((found.shape[0], *image.shape[1:]), np.float32)
                result[(slice(None), *here)] += found * weight
                total[here] += weight
                count += 1
    return result / total, count


def main():
    file, out, window, precision, layout, *files = sys.argv[1:]
    begin = time.perf_counter()
    about, say, version = network_of(file, precision, layout)
    loaded = time.perf_counter()
    channels = [canonical(path) for path in files]
    image, box = prepared(channels, about)
    ready = time.perf_counter()
    sides = image.shape[1:] if window == "whole" else tuple(int(n) for n in window.split(","))[::-1]
    say_all, windows = in_windows(say, image, sides)
    said = time.perf_counter()
    labels = label_map(on_own_grid(say_all, box, channels[0].shape), box, json.loads(about["decide"]))
    # In LPS, as reoriented by `canonical` from the first channel.
    affine = np.diag([-1.0, -1.0, 1.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(labels.T.astype(np.int16), affine), out)
    end = time.perf_counter()
    print(json.dumps({"seconds": end - begin, "loading_seconds": loaded - begin, "preparing_seconds": ready - loaded,
                      "network_seconds": said - ready, "windows": windows, "version": version,
                      "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
