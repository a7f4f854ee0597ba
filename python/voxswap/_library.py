"""Calls libvoxswap.so (library/c_api.h) with JSON for arguments and results, and arrays without copies.

ctypes releases Python's GIL during a call, so other threads continue.
"""
import ctypes
import json
import numbers
import os
from pathlib import Path

import numpy

from ._images import image_of

_PATH = os.environ.get("VOXSWAP_LIBRARY") or Path(__file__).parent / "lib" / "libvoxswap.so"
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)


def _load():
    if not os.path.exists(_PATH):
        raise ImportError(f"{_PATH}: not there. Install the wheel, or set VOXSWAP_LIBRARY to a build's libvoxswap.so")
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


_used = _forked = False


def _after_fork():
    global _forked
    _forked = _used


# Threads that OpenMP has started do not exist in a forked process, where the next call would wait for them forever.
os.register_at_fork(after_in_child=_after_fork)


def _call(name, *arguments, starts_threads=True):
    global _used
    if _forked:
        raise Error("voxswap was used before this process was forked. Start processes with the method spawn of "
                    "multiprocessing")
    _used = _used or starts_threads
    return _result(getattr(_library, f"voxswap_{name}")(*arguments))


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
    try:
        return _call("call", function.encode(), json.dumps(arguments).encode(),
                     ctypes.cast(callback, ctypes.c_void_p) if callback else None,
                     starts_threads=function not in ("version", "be_quiet"))
    except Error:
        if failures:
            raise failures[0] from None
        raise


def _window(window):
    if window is None or isinstance(window, str) and window == "whole":  # another argument says which
        return None
    sides = [window] * 3 if isinstance(window, numbers.Integral) else list(window)
    if len(sides) != 3 or not all(isinstance(side, numbers.Integral) for side in sides):
        raise ValueError(f"window: expected \"whole\", a number of voxels, or three (x, y, z); found {window!r}")
    return [int(side) for side in sides]


class Network:
    """The networks of finished runs, loaded once; the probabilities of several runs are averaged.

    window: voxels x, y, z per pass, one number for a cube, or "whole"; default: as in training. overlap: of windows, 0
    to 0.9. mirror: average over the mirrorings used in training. Threads may share a network; one of them predicts at
    a time.

    predict(image) takes a path, an image of nibabel, SimpleITK or ITK, an array with axes="zyx" or "xyz", or a list of
    them, one per channel; it returns the label map as the same kind of image. Channels are an array's first axis, and
    affine is nibabel's; without it, the axes point to the left, the back and the top of the body. With
    probabilities=True it also returns an array of all outputs' probabilities, with the axes of the image's array.
    """

    def __init__(self, runs, *, window=None, overlap=0.5, mirror=False, probabilities=False, postprocessing="",
                 quiet=False):
        runs = [runs] if isinstance(runs, (str, os.PathLike)) else runs
        arguments = {"runs": [os.fspath(run) for run in runs], "window": _window(window),
                     "whole": isinstance(window, str), "overlap": float(overlap), "mirror": bool(mirror),
                     "probabilities": bool(probabilities), "postprocessing": os.fspath(postprocessing)}
        self._network, self._quiet = ctypes.c_void_p(), quiet
        call("be_quiet", quiet=quiet)
        names = _call("open_network", json.dumps(arguments).encode(), ctypes.byref(self._network))
        self.channels, self.labels, self.outputs = names["channels"], names["labels"], names["outputs"]
        self._probabilities = probabilities

    def __del__(self):
        network, self._network = getattr(self, "_network", None), None
        if network and not _forked:
            _library.voxswap_close_network(network)

    def __reduce__(self):  # for copy and pickle
        raise TypeError("a Network cannot be copied: open another one from the same runs")

    def predict(self, image, *, axes=None, spacing=None, affine=None):
        if not self._network:
            raise ValueError("this network is closed")
        image = image_of(image, axes, spacing, affine)
        voxels = numpy.ascontiguousarray(image.voxels, numpy.float32)
        affine = numpy.ascontiguousarray(image.affine, numpy.float64)
        labels = numpy.empty(voxels.shape[1:], numpy.int16)
        probabilities = numpy.empty((len(self.outputs), *labels.shape), numpy.float32) if self._probabilities else None
        call("be_quiet", quiet=self._quiet)
        _call("predict", self._network, voxels.ctypes.data, (ctypes.c_int64 * 4)(*voxels.shape), affine.ctypes.data,
              labels.ctypes.data, None if probabilities is None else probabilities.ctypes.data)
        made = image.as_given(labels)
        return made if probabilities is None else (made, image.as_given(probabilities))
