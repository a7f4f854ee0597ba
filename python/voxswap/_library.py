"""Calls libvoxswap.so (library/c_api.h) with JSON for arguments and results, and arrays without copies.

ctypes releases Python's GIL during a call, so other threads continue.
"""
import ctypes
import json
import os
from pathlib import Path

import numpy

from ._images import image_of

_PATH = os.environ.get("VOXSWAP_LIBRARY") or Path(__file__).parent / "lib" / "libvoxswap.so"
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)


def _load():
    # As in the program (cli/restart.h): waiting threads sleep early. OpenMP reads this when it is loaded.
    added = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(os.environ)
    if added:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    library = ctypes.CDLL(os.fspath(_PATH))
    if added:
        del os.environ["GOMP_SPINCOUNT"]
    pointer = ctypes.c_void_p
    for name, *arguments in [("call", ctypes.c_char_p, ctypes.c_char_p, pointer),
                             ("open_network", ctypes.c_char_p, pointer),
                             ("predict", pointer, pointer, pointer, pointer, pointer, pointer)]:
        function = getattr(library, f"voxswap_{name}")
        function.argtypes, function.restype = arguments, pointer
    for name in ("free", "close_network"):
        function = getattr(library, f"voxswap_{name}")
        function.argtypes, function.restype = [pointer], None
    return library


_library = _load()


class Error(RuntimeError):
    """The program's error message and exit code."""

    def __init__(self, message, exit_code=1):
        super().__init__(message)
        self.exit_code = exit_code


def _result(text):
    try:
        answer = json.loads(ctypes.string_at(text))
    finally:
        _library.voxswap_free(text)
    if "error" not in answer:
        return answer["result"]
    if answer["exit_code"] == 130:
        raise KeyboardInterrupt(answer["error"])
    raise Error(answer["error"], answer["exit_code"])


def call(function, on_epoch=None, **arguments):
    failures = []

    def after_epoch(text):
        try:
            on_epoch(json.loads(text))
        except BaseException as error:  # raised again below: C has no exceptions
            failures.append(error)
        return len(failures)

    callback = _CALLBACK(after_epoch) if on_epoch else None
    answer = _library.voxswap_call(function.encode(), json.dumps(arguments).encode(),
                                   ctypes.cast(callback, ctypes.c_void_p) if callback else None)
    try:
        return _result(answer)
    except Error:
        if failures:
            raise failures[0] from None
        raise


class Network:
    """The networks of finished runs, loaded once; the probabilities of several runs are averaged.

    predict(image) takes a path, an image of nibabel, SimpleITK or ITK, an array with axes="zyx" or "xyz", or a list of
    them, one per channel; it returns the label map as the same kind of image. Channels are an array's first axis, and
    affine is nibabel's; without it, the axes point to the left, the back and the top of the body. With
    probabilities=True it also returns an array of all outputs' probabilities, with the axes of the image's array.
    """

    def __init__(self, runs, *, window=None, overlap=0.5, mirror=False, probabilities=False, postprocessing="",
                 quiet=False):
        runs = [runs] if isinstance(runs, (str, os.PathLike)) else runs
        arguments = {"runs": [os.fspath(run) for run in runs], "window": window, "overlap": overlap, "mirror": mirror,
                     "probabilities": probabilities, "postprocessing": os.fspath(postprocessing)}
        self._network, self._quiet = ctypes.c_void_p(), quiet
        call("be_quiet", quiet=quiet)
        names = _result(_library.voxswap_open_network(json.dumps(arguments).encode(), ctypes.byref(self._network)))
        self.channels, self.labels, self.outputs = names["channels"], names["labels"], names["outputs"]
        self._probabilities = probabilities

    def __del__(self):
        if getattr(self, "_network", None):
            _library.voxswap_close_network(self._network)

    def predict(self, image, *, axes=None, spacing=None, affine=None):
        image = image_of(image, axes, spacing, affine)
        voxels = numpy.ascontiguousarray(image.voxels, numpy.float32)
        affine = numpy.ascontiguousarray(image.affine, numpy.float64)
        labels = numpy.empty(voxels.shape[1:], numpy.int16)
        probabilities = numpy.empty((len(self.outputs), *labels.shape), numpy.float32) if self._probabilities else None
        call("be_quiet", quiet=self._quiet)
        _result(_library.voxswap_predict(
            self._network, voxels.ctypes.data, (ctypes.c_int64 * 4)(*voxels.shape), affine.ctypes.data,
            labels.ctypes.data, None if probabilities is None else probabilities.ctypes.data))
        made = image.as_given(labels)
        return made if probabilities is None else (made, image.as_given(probabilities))
