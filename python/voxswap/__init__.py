"""voxswap from Python: plan, train, predict and evaluate without leaving a notebook.

    import voxswap
    voxswap.run("study.yaml", ["training.epochs=20"], on_epoch=print)
    labels = voxswap.Network("runs/study").predict(image, axes="zyx", affine=affine)

Messages and progress go to standard error, unless quiet=True; warnings always do.
Errors are voxswap.Error with the program's message and its exit code; Ctrl-C stops at the next safe point.
"""
import os
import re
import tempfile
from pathlib import Path

from ._images import image_of, write_label_map
from ._library import Error, Network, call

__all__ = ["Error", "Network", "__version__", "check", "evaluate", "plan", "predict", "read_run", "run"]
__version__ = call("version")


def plan(experiment, overrides=(), *, estimate=False, device="", quiet=False):
    """Returns the memory plan of a training step: a dictionary with peaks, step time and lower bound.

    overrides: "key=value" texts. estimate: typical costs instead of measured ones. device: plan for a GPU that this
    machine lacks, such as "h100".
    """
    call("be_quiet", quiet=quiet)
    return call("plan", experiment=os.fspath(experiment), overrides=list(overrides), estimate=estimate, device=device)


def run(experiment, overrides=(), *, resume=False, on_epoch=None, quiet=False):
    """Trains, predicts the validation cases, evaluates and reports. Returns the run's folder.

    on_epoch: called after every epoch with a dictionary of its losses and scores.
    """
    call("be_quiet", quiet=quiet)
    return Path(call("run", on_epoch, experiment=os.fspath(experiment), overrides=list(overrides), resume=resume))


def check(folder, layout="auto", quiet=False):
    """Returns a dictionary of a data set's contents and problems."""
    call("be_quiet", quiet=quiet)
    return call("check", folder=os.fspath(folder), layout=layout)


def predict(run, image, *, axes=None, spacing=None, affine=None, **options):
    """Returns labels and probabilities of an image, in memory or a file. For many images, create one Network."""
    return Network(run, probabilities=True, **options).predict(image, axes=axes, spacing=spacing, affine=affine)


def evaluate(truth, prediction, *, axes=None, spacing=None, affine=None, regions=None, metrics=("dice",),
             empty="brats", partial=False, quiet=False):
    """Returns scores of label maps: a pandas table with a row per case and region.

    truth, prediction: two folders, two images as Network.predict takes them, or two dictionaries of images by case.
    regions: names and label values, {"whole_tumor": [1, 2, 4]}; default: one region per label.
    """
    import pandas
    pairs = [(name, list(values)) for name, values in (regions or {}).items()]
    call("be_quiet", quiet=quiet)
    with tempfile.TemporaryDirectory() as kept:
        folders = [_as_folder(maps, Path(kept, name), axes, spacing, affine)
                   for name, maps in (("truth", truth), ("prediction", prediction))]
        rows = call("evaluate", truth=folders[0], prediction=folders[1], regions=pairs, metrics=list(metrics),
                    empty=empty, partial=partial)
    return pandas.DataFrame(rows).astype({name: float for name in metrics} if rows else {})


def _as_folder(maps, folder, axes, spacing, affine):
    if isinstance(maps, (str, os.PathLike)) and Path(maps).is_dir():
        return os.fspath(maps)
    folder.mkdir()
    for case, image in (maps if isinstance(maps, dict) else {"image": maps}).items():
        if not str(case).strip(".") or os.sep in str(case):
            raise ValueError(f"case {case!r}: expected a name, not a path")
        write_label_map(folder / f"{case}.nii.gz", image_of(image, axes, spacing, affine))
    return os.fspath(folder)


def read_run(folder):
    """Returns the tables of a run, sweep or report by name, as pandas tables: read_run("runs/study")["dice"]."""
    import pandas
    files = sorted(Path(folder).glob("*.csv"))
    if not files:
        raise FileNotFoundError(f"{folder}: has no tables, so it is not the folder of a run")
    return {file.stem: _without_marks(pandas.read_csv(file, float_precision="round_trip"))
            for file in files if file.stat().st_size > 0}


def _without_marks(table):
    """Removes the apostrophes that CSV files have before texts that a spreadsheet would read as formulas."""
    from pandas.api.types import is_numeric_dtype
    bare = lambda value: re.sub(r"^'(?='*[=+\-@\t\r])", "", value) if isinstance(value, str) else value
    return table.apply(lambda column: column if is_numeric_dtype(column) else column.map(bare))
