from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy
import numpy.typing
import pandas

__version__: str
_Path = str | PathLike[str]
# A path, an array, an image of nibabel, SimpleITK or ITK, or a list of them, one per channel.
_Image = Any

class Error(RuntimeError):
    exit_code: int

class Network:
    channels: list[str]
    labels: dict[str, int]
    outputs: list[str]
    def __init__(self, runs: _Path | Iterable[_Path], *, window: tuple[int, int, int] | None = None,
                 overlap: float = 0.5, mirror: bool = False, probabilities: bool = False,
                 postprocessing: _Path = "", quiet: bool = False) -> None: ...
    def predict(self, image: _Image, *, axes: Literal["zyx", "xyz"] | None = None,
                spacing: tuple[float, float, float] | None = None,
                affine: numpy.typing.ArrayLike | None = None) -> Any: ...

def plan(experiment: _Path, overrides: Iterable[str] = (), *, estimate: bool = False,
         device: str = "", quiet: bool = False) -> dict[str, Any]: ...
def run(experiment: _Path, overrides: Iterable[str] = (), *, resume: bool = False,
        on_epoch: Callable[[dict[str, Any]], object] | None = None, quiet: bool = False) -> Path: ...
def predict(run: _Path | Iterable[_Path], image: _Image, *, axes: Literal["zyx", "xyz"] | None = None,
            spacing: tuple[float, float, float] | None = None, affine: numpy.typing.ArrayLike | None = None,
            **options: Any) -> tuple[Any, numpy.ndarray]: ...
def evaluate(truth: _Image | Mapping[str, _Image], prediction: _Image | Mapping[str, _Image], *,
             axes: Literal["zyx", "xyz"] | None = None, spacing: tuple[float, float, float] | None = None,
             affine: numpy.typing.ArrayLike | None = None, regions: Mapping[str, Iterable[int]] | None = None,
             metrics: Iterable[str] = ("dice",), empty: str = "brats", partial: bool = False,
             quiet: bool = False) -> pandas.DataFrame: ...
def read_run(folder: _Path) -> dict[str, pandas.DataFrame]: ...
def check(folder: _Path, layout: str = "auto", quiet: bool = False) -> dict[str, Any]: ...
