"""The steps around the network in its MONAI bundle (configs/inference.json): preprocessing, windows, decision.

MONAI's arrays are channel, x, y, z along L, P, S; the network's are channel, z, y, x.
"""
import itertools
import json
from pathlib import Path

import nibabel
import numpy
import torch
from monai.data import MetaTensor
from monai.inferers import Inferer
from scipy.ndimage import label, zoom
from torch.nn.functional import interpolate

from . import model


class Network(torch.nn.Module):
    """Computes the probabilities of the trained network."""

    def __init__(self, path):
        super().__init__()
        self.network = model.load(path)
        self.about = {name: json.loads(text) if text[:1] in "[{" else text for name, text in self.network.about.items()}

    def forward(self, image):
        return self.network.probabilities(image)


def cases(folder, channels):
    """Finds the cases of a folder. Each subfolder is a case with a file CASE_CHANNEL.nii.gz (or .nii) per channel;
    without subfolders, as in imagesTr, each file is a case with all channels.
    """
    folder, found = Path(folder), []
    if (folder / "imagesTr").is_dir():
        folder = folder / "imagesTr"
    for case in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = [next(iter(sorted(case.glob(f"*_{channel}.nii*"))), None) for channel in channels]
        if None in files:
            raise FileNotFoundError(f"{case}: no file *_{channels[files.index(None)]}.nii.gz")
        found.append({"image": [str(file) for file in files]})
    return found or [{"image": [str(file)]} for file in sorted(folder.glob("[!.]*.nii*"))]


class Windows(Inferer):
    """Evenly spaced windows with Gaussian weights, each averaged over all mirrorings."""

    def __init__(self, inference):
        self.window, self.overlap, self.sigma = inference["window"][::-1], inference["overlap"], inference["sigma"]
        mirrored = [2 + "zyx".index(axis) for axis in inference["mirror"]]
        self.mirrors = [axes for count in range(len(mirrored) + 1) for axes in itertools.combinations(mirrored, count)]

    def axis(self, length, window):
        """Returns (start, weights) of each window along an axis."""
        gaps = int(numpy.ceil((length - window) / max(window * (1 - self.overlap), 1)))
        starts = [0] + [int((length - window) * i / gaps + 0.5) for i in range(1, gaps + 1)]
        gaussian = numpy.exp(-((numpy.arange(window) - (window - 1) / 2) / (window * self.sigma)) ** 2 / 2)
        total = numpy.zeros(length)
        for start in starts:
            total[start:start + window] += gaussian
        return [(start, (gaussian / total[start:start + window]).astype(numpy.float32)) for start in starts]

    def mirrored_mean(self, image, network):
        return sum(network(image.flip(axes)).flip(axes) for axes in self.mirrors) / len(self.mirrors)

    def __call__(self, image, network):
        whole = None
        for places in itertools.product(*map(self.axis, image.shape[2:], self.window)):
            box = (..., *(slice(start, start + len(weights)) for start, weights in places))
            part = self.mirrored_mean(image[box], network)
            for axis, (_, weights) in enumerate(places):
                part = part * torch.from_numpy(weights).to(part).reshape([-1] + [1] * (2 - axis))
            if whole is None:
                whole = part.new_zeros((*part.shape[:2], *image.shape[2:]))
            whole[box] += part
        return whole


def resize(part, sides):
    return interpolate(torch.from_numpy(part)[None], sides, mode="trilinear", align_corners=False)[0].numpy()


def resize_cubic(part, sides, coarse, background):
    """Resizes with cubic B-splines, but nearest slices along the axis `coarse`. Background voxels are kept."""
    nearest = [(2 * numpy.arange(to) + 1) * size // (2 * to) for size, to in zip(part.shape, sides)]
    factors = [1 if axis == coarse else to / size for axis, (size, to) in enumerate(zip(part.shape, sides))]
    outside = (part == background)[numpy.ix_(*nearest)]
    if coarse is not None:
        part = part.take(nearest[coarse], coarse)
    resized = zoom(part, factors, order=3, mode="mirror", grid_mode=True)
    resized[outside] = background
    return resized


class Prepare:
    """Adds the network's input to a case, and its position in the image as "box" and "sides"."""

    def __init__(self, about):
        self.how, self.known = about["preprocess"], about["normalization"]

    def __call__(self, case):
        how, meta = self.how, case["image"]
        image = numpy.ascontiguousarray(meta.numpy().transpose(0, 3, 2, 1), numpy.float32)
        background = image[:, 0, 0, 0] if how["background"] == "corner" else numpy.full(len(image), how["background"])
        background = background.astype(numpy.float32)
        box = [slice(0, side) for side in image.shape[1:]]
        if how["crop"] == "foreground":
            inside = numpy.nonzero((image != background[:, None, None, None]).any(0))
            margin = how["crop_margin"]
            box = [slice(max(at.min() - margin, 0), min(at.max() + 1 + margin, side)) if len(at) else slice(0, side)
                   for at, side in zip(inside, image.shape[1:])]
        parts = image[(slice(None), *box)].copy()
        for part, value in zip(parts, background):
            outside = part == value
            if how["clip_percentiles"] != [0, 100] and not outside.all():
                part[~outside] = part[~outside].clip(*numpy.percentile(part[~outside], how["clip_percentiles"]))
        if "spacing" in how:
            spacing = numpy.linalg.norm(numpy.asarray(meta.affine)[:3, :3], axis=0)
            sides = [max(1, int(side * now / to + 0.5))
                     for side, now, to in zip(parts.shape[1:], spacing[::-1], how["spacing"][::-1])]
            coarse = int(spacing.argmax())
            coarse = 2 - coarse if spacing[coarse] > 3 * numpy.delete(spacing, coarse).max() else None
            resized = numpy.stack([resize_cubic(part, sides, coarse, value) for part, value in zip(parts, background)])
        else:
            resized = parts = resize(parts, how["resolution"][::-1])
        case["sides"], case["box"] = resized.shape[1:], box
        case["network_input"] = torch.from_numpy(self.normalized(self.padded(resized, background), parts, background))
        return case

    def padded(self, image, background):
        window = (self.how["patch"] or self.how["resolution"])[::-1]
        whole = [max(side, least) for side, least in zip(image.shape[1:], window)]
        result = numpy.broadcast_to(background[:, None, None, None], (len(image), *whole)).copy()
        result[(slice(None), *middle(image.shape[1:], whole))] = image
        return result

    def normalized(self, image, parts, background):
        how = self.how["normalize"]
        for c, (channel, part, value) in enumerate(zip(image, parts, background)):
            outside = channel == value
            if how in ("dataset", "ct"):
                mean, deviation = self.known["mean"][c], self.known["deviation"][c]
                if "low" in self.known:
                    channel[:] = channel.clip(self.known["low"][c], self.known["high"][c])
            elif how == "none":
                continue
            else:
                counted = channel if how == "whole" else part[part != value]
                mean, deviation = (counted.mean(dtype=float), counted.std(dtype=float)) if counted.size else (0, 0)
            channel[:] = (channel - mean) / (deviation or 1)
            if how == "masked":
                channel[outside] = 0
        return image


def inferer(about):
    return Windows(about["inference"])


@torch.inference_mode()
def predict(case, network, inferer, postprocessing, device):
    case["pred"] = inferer(case["network_input"][None].to(device), network)[0]
    return postprocessing(case)


def middle(inner, outer):
    return [slice((out - side) // 2, (out - side) // 2 + side) for side, out in zip(inner, outer)]


def apply_step(labels, step, voxel):
    """Removes components of a region (26 neighbours) that are too small."""
    found, count = label(numpy.isin(labels, step["values"]), numpy.ones((3, 3, 3)))
    sizes = numpy.bincount(found.ravel(), minlength=count + 1)[1:]
    if step["remove"] == "all_but_largest":
        removed = numpy.arange(count) != (sizes.argmax() if count else 0)
    elif step["remove"] == "small_components":
        removed = sizes * voxel < step["below_mm3"]
    else:
        removed = numpy.full(count, sizes.sum() * voxel < step["below_mm3"])
    labels[numpy.concatenate(([False], removed))[found]] = step["becomes"]


class Decide:
    """Adds "pred": the label map of a case on the grid of its image file."""

    def __init__(self, about):
        self.rule, self.steps = about["decide"], about["postprocessing"]

    def __call__(self, case):
        probabilities = case["pred"].cpu().numpy()
        probabilities = probabilities[(slice(None), *middle(case["sides"], probabilities.shape[1:]))]
        native = resize(numpy.ascontiguousarray(probabilities), [part.stop - part.start for part in case["box"]])
        labels, largest = numpy.zeros(native.shape[1:], numpy.int16), numpy.zeros(native.shape[1:], numpy.float32)
        for c in self.rule["sequence"]:
            takes = native[c] >= self.rule["least"]
            if c >= self.rule["nested"]:
                takes &= native[c] > largest
                largest = numpy.maximum(largest, native[c])
            labels[takes] = self.rule["labels"][c]
        image = case["image"]
        whole = numpy.zeros(image.shape[:0:-1], numpy.int16)
        whole[tuple(case["box"])] = labels
        for step in self.steps:
            apply_step(whole, step, numpy.linalg.norm(numpy.asarray(image.affine)[:3, :3], axis=0).prod())
        stored = numpy.asarray(image.meta["original_affine"])
        turn = nibabel.orientations.ornt_transform(nibabel.orientations.axcodes2ornt("LPS"),
                                                   nibabel.io_orientation(stored))
        whole = nibabel.apply_orientation(whole.transpose(2, 1, 0), turn)
        case["pred"] = MetaTensor(torch.from_numpy(whole[None].copy()), affine=stored)
        return case


class Save:
    """Writes "pred" to CASE_seg.nii.gz, named after the image's first file, with the affine of that file."""

    def __init__(self, output_dir):
        self.folder = Path(output_dir)

    def __call__(self, case):
        name = Path(case["image"].meta["filename_or_obj"]).name.split(".nii")[0]
        self.folder.mkdir(parents=True, exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(case["pred"][0].numpy(), numpy.asarray(case["pred"].affine)),
                     self.folder / f"{name}_seg.nii.gz")
        return case
