"""Images in Python: arrays, images of nibabel, SimpleITK and ITK, or image files.

Internally, an image is an array of channels, z, y, x and nibabel's affine of its x, y, z.
"""
import gzip
import os
import struct
from pathlib import Path

import numpy


class Image:
    """An image in the library's order, and the function that returns a label map as the kind of the input."""

    def __init__(self, voxels, affine, as_given):
        self.voxels, self.affine, self.as_given = voxels, affine, as_given


def _affine(spacing, affine):
    if affine is None:
        x, y, z = (1, 1, 1) if spacing is None else spacing
        # LPS: axes point to the left, the back and the top of the body
        affine = [[-x, 0, 0, 0], [0, -y, 0, 0], [0, 0, z, 0]]
    elif spacing is not None:
        raise ValueError("give spacing or affine, not both")
    affine = numpy.ascontiguousarray(affine, numpy.float64)
    if affine.shape not in [(3, 4), (4, 4)]:
        raise ValueError(f"affine: expected 4 x 4 numbers, found an array of shape {affine.shape}")
    return affine


def _of_array(array, axes, spacing, affine):
    if axes not in ("zyx", "xyz"):
        raise ValueError("axes: an array does not say which of its axes is x. Give axes=\"zyx\" (x is the last axis, as "
                         "in SimpleITK's arrays) or axes=\"xyz\" (x is the first, as in nibabel's); channels come "
                         f"before them{'' if axes is None else f'. Found {axes!r}'}")
    array = numpy.asarray(array)
    if array.ndim not in (3, 4):
        raise ValueError(f"image: expected 3 axes, or channels and 3 axes, found an array of {array.ndim} axes")
    voxels = array if array.ndim == 4 else array[None]
    if axes == "zyx":
        return Image(voxels, _affine(spacing, affine), lambda labels: labels)
    return Image(voxels.transpose(0, 3, 2, 1), _affine(spacing, affine), lambda labels: labels.swapaxes(-1, -3))


def _affine_of(image):
    """nibabel's affine; for a NIfTI file without one, as in the program, axes to the right, the front and the top."""
    try:
        known = int(image.header["qform_code"]) > 0 or int(image.header["sform_code"]) > 0
    except (KeyError, IndexError, TypeError, ValueError):
        known = True  # another format
    return numpy.asarray(image.affine if known else numpy.diag([*image.header["pixdim"][1:4], 1]), numpy.float64)


def _of_nibabel(image):
    voxels = numpy.asanyarray(image.dataobj)
    if voxels.ndim not in (3, 4):
        raise ValueError(f"image: expected 3 axes, or 3 and channels, found {voxels.ndim}")
    voxels = voxels.transpose(3, 2, 1, 0) if voxels.ndim == 4 else voxels.T[None]

    def as_given(labels):
        if labels.ndim == 4:
            return labels.swapaxes(-1, -3)
        import nibabel
        return nibabel.Nifti1Image(labels.T, image.affine)
    return Image(voxels, _affine_of(image), as_given)


def _of_itk(image):
    """Converts an image of SimpleITK or ITK, whose axes are LPS, to nibabel's RAS."""
    simple = hasattr(image, "GetPixelIDTypeAsString")
    if simple:
        import SimpleITK
        voxels = SimpleITK.GetArrayFromImage(image)
        direction = numpy.reshape(image.GetDirection(), (image.GetDimension(),) * 2)
    else:
        import itk
        voxels = itk.array_from_image(image)
        direction = itk.array_from_matrix(image.GetDirection())
    channels = image.GetNumberOfComponentsPerPixel()
    voxels = numpy.moveaxis(voxels, -1, 0) if channels > 1 else voxels[None]
    if voxels.ndim != 4:
        raise ValueError(f"image: expected 3 axes, found an image of {voxels.ndim - 1}")
    affine = numpy.eye(4)
    affine[:3, :3] = direction * numpy.array(image.GetSpacing())
    affine[:3, 3] = image.GetOrigin()
    affine[:2] *= -1

    def as_given(labels):
        if labels.ndim == 4:
            return labels
        made = SimpleITK.GetImageFromArray(labels) if simple else itk.image_from_array(labels)
        made.SetSpacing(image.GetSpacing())
        made.SetOrigin(image.GetOrigin())
        made.SetDirection(image.GetDirection())
        return made
    return Image(voxels, affine, as_given)


def _of_file(path):
    if path.is_dir() or not path.exists():
        raise ValueError(f"{path}: expected the file of an image. For folders and data sets use voxswap predict")
    if path.name.lower().endswith((".nii", ".nii.gz")):
        import nibabel
        return _of_nibabel(nibabel.load(path))
    import SimpleITK
    return _of_itk(SimpleITK.ReadImage(str(path)))


def image_of(image, axes=None, spacing=None, affine=None):
    """Converts a path, an image of nibabel, SimpleITK or ITK, an array, or a list of one of them per channel."""
    own_grid = None
    if isinstance(image, (str, os.PathLike)):
        own_grid = _of_file(Path(image))
    elif hasattr(image, "dataobj"):
        own_grid = _of_nibabel(image)
    elif hasattr(image, "GetDirection"):
        own_grid = _of_itk(image)
    elif isinstance(image, (list, tuple)) and len(image) and not isinstance(image[0], (list, tuple, int, float)):
        if isinstance(image[0], numpy.ndarray):
            return _of_array(numpy.stack(image), axes, spacing, affine)
        channels = [image_of(channel, axes, spacing, affine) for channel in image]
        first = channels[0]
        for channel in channels[1:]:
            if channel.voxels.shape[1:] != first.voxels.shape[1:] or not numpy.allclose(
                    channel.affine, first.affine, atol=1e-3):
                raise ValueError("image: its channels are on different grids. Resample them onto the first one")
        return Image(numpy.concatenate([channel.voxels for channel in channels]), first.affine, first.as_given)
    if own_grid is None:
        return _of_array(image, axes, spacing, affine)
    if axes is not None or spacing is not None or affine is not None:
        raise ValueError("axes, spacing and affine are for arrays: this image has its own")
    return own_grid


def write_label_map(path, image):
    """Writes a NIfTI file of 16-bit labels."""
    if len(image.voxels) != 1:
        raise ValueError(f"a label map has one channel, found {len(image.voxels)}")
    labels = image.voxels[0]
    whole = numpy.rint(labels)
    if not numpy.array_equal(whole, labels) or whole.size and (whole.min() < -32768 or whole.max() > 32767):
        raise ValueError("labels: expected whole numbers from -32768 to 32767")
    spacing = numpy.linalg.norm(image.affine[:3, :3], axis=0)
    fields = bytearray(352)
    struct.pack_into("<i", fields, 0, 348)
    struct.pack_into("<8h", fields, 40, 3, *labels.shape[::-1], 1, 1, 1, 1)
    struct.pack_into("<2h", fields, 70, 4, 16)  # int16
    struct.pack_into("<8f", fields, 76, 1, *spacing, 1, 1, 1, 1)
    struct.pack_into("<3f", fields, 108, 352, 1, 0)  # offset of the voxels, no scaling
    struct.pack_into("<B", fields, 123, 2)  # mm
    struct.pack_into("<2h", fields, 252, 0, 1)  # uses the sform affine
    struct.pack_into("<12f", fields, 280, *numpy.asarray(image.affine)[:3].ravel())
    fields[344:348] = b"n+1\0"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(bytes(fields) + numpy.ascontiguousarray(whole, "<i2").tobytes())
