from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import pandas

__version__: str
_Path = str | PathLike[str]

class Error(RuntimeError):
    exit_code: int

class Network:
    channels: list[str]
    labels: dict[str, int]
    outputs: list[str]
    def __init__(self, runs: _Path | Iterable[_Path], *, window: tuple[int, int, int] | None = None,
                 overlap: float = 0.5, mirror: bool = False, probabilities: bool = False,
                 postprocessing: _Path = "") -> None: ...
    def predict(self, image: numpy.typing.ArrayLike, *, spacing: tuple[float, float, float] | None = None,
                affine: numpy.typing.ArrayLike | None = None) -> Any: ...

def plan(experiment: _Path, overrides: Iterable[str] = (), *, estimate: bool = False,
         device: str = "") -> dict[str, Any]: ...
def run(experiment: _Path, overrides: Iterable[str] = (), *, resume: bool = False,
        on_epoch: Callable[[dict[str, Any]], object] | None = None) -> Path: ...
def predict(run: _Path | Iterable[_Path], image: numpy.typing.ArrayLike, *,
            spacing: tuple[float, float, float] | None = None, affine: numpy.typing.ArrayLike | None = None,
            **options: Any) -> tuple[numpy.ndarray, numpy.ndarray]: ...
def evaluate(truth: _Path, prediction: _Path, *, regions: Mapping[str, Iterable[int]] | None = None,
             metrics: Iterable[str] = ("dice",), empty: str = "brats", partial: bool = False) -> pandas.DataFrame: ...
def read_run(folder: _Path) -> dict[str, pandas.DataFrame]: ...
def check(folder: _Path, layout: str = "auto") -> dict[str, Any]: ...
