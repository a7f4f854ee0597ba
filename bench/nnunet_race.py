#!/usr/bin/env python3
"""Compares Dice per minute with nnU-Net: both train fold 0 of one data set for the same minutes on the same cores.

    pip install nnunetv2 matplotlib        # in a virtual environment
    bench/nnunet_race.py nnunet DATASET FOLDER        # trains, then predicts with the weights of each minute
    bench/nnunet_race.py voxswap DATASET FOLDER --program build/release/bin/voxswap
    bench/nnunet_race.py score DATASET FOLDER         # rows.csv: program, minute, case, label, Dice

nnU-Net's trainer, plans and preprocessing are unchanged; its weights are copied every minute, and it is stopped at the
last. Its clock starts with its first epoch, after preprocessing; voxswap's with the command.
"""
import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

MINUTES = (5, 10, 20, 40, 60)


def convert(source: Path, raw: Path) -> None:
    """Writes the data set under nnU-Net's file names."""
    given = json.loads((source / "dataset.json").read_text())
    (raw / "imagesTr").mkdir(parents=True)
    (raw / "labelsTr").mkdir()
    for case in given["training"]:
        name = Path(case["image"]).name.removesuffix(".nii.gz")
        shutil.copy(source / case["image"], raw / "imagesTr" / f"{name}_0000.nii.gz")
        shutil.copy(source / case["label"], raw / "labelsTr" / f"{name}.nii.gz")
    labels = {text.lower(): int(value) for value, text in given["labels"].items()}
    (raw / "dataset.json").write_text(json.dumps({
        "channel_names": given["modality"], "labels": labels,
        "numTraining": len(given["training"]), "file_ending": ".nii.gz"}))


def nnunet(source: Path, folder: Path) -> None:
    for name in ("raw", "preprocessed", "results"):
        os.environ[f"nnUNet_{name}"] = str(folder / name)
    raw = folder / "raw" / "Dataset004_Race"
    prepared = folder / "preprocessed" / "Dataset004_Race"
    if not prepared.exists():
        convert(source, raw)
        started = time.monotonic()
        subprocess.run(["nnUNetv2_plan_and_preprocess", "-d", "4", "-c", "3d_fullres", "-np", "2", "-npfp", "2"],
                       check=True)
        from nnunetv2.utilities.crossval_split import generate_crossval_split
        print(f"nnU-Net's planning and preprocessing: {time.monotonic() - started:.0f} s")
        cases = sorted(path.name.removesuffix(".nii.gz") for path in (raw / "labelsTr").iterdir())
        (prepared / "splits_final.json").write_text(json.dumps(generate_crossval_split(cases)))

    import torch
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
    from nnunetv2.inference.predict_from_raw_data import nnUNetPredictor

    class LastMinute(Exception):
        pass

    class Timed(nnUNetTrainer):
        def on_train_start(self):
            super().on_train_start()
            self.started, self.left = time.monotonic(), list(MINUTES)

        def train_step(self, batch):
            loss = super().train_step(batch)
            while self.left and time.monotonic() - self.started >= 60 * self.left[0]:
                minute = self.left.pop(0)
                torch.save(self.network.state_dict(), folder / f"nnunet_{minute}.pth")
                print(f"minute {minute}: epoch {self.current_epoch}", flush=True)
            if not self.left:
                raise LastMinute
            return loss

    plans = json.loads((prepared / "nnUNetPlans.json").read_text()) | {"continue_training": False}
    description = json.loads((prepared / "dataset.json").read_text())
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    trainer = Timed(plans, "3d_fullres", 0, description, device=torch.device("cpu"))
    try:
        trainer.run_training()
    except LastMinute:
        pass
    held_out = json.loads((prepared / "splits_final.json").read_text())[0]["val"]
    predictor = nnUNetPredictor(device=torch.device("cpu"), perform_everything_on_device=False)
    for minute in MINUTES:
        weights = torch.load(folder / f"nnunet_{minute}.pth")
        predictor.manual_initialization(trainer.network, trainer.plans_manager, trainer.configuration_manager,
                                        [weights], trainer.dataset_json, "Timed",
                                        trainer.inference_allowed_mirroring_axes)
        trainer.network.load_state_dict(weights)
        trainer.set_deep_supervision_enabled(False)
        out = folder / "predictions" / f"nnunet_{minute}"
        out.mkdir(parents=True, exist_ok=True)
        predictor.predict_from_files_sequential(
            [[str(raw / "imagesTr" / f"{case}_0000.nii.gz")] for case in held_out],
            [str(out / case) for case in held_out])
    os._exit(0)  # its workers would wait for ever


def voxswap(source: Path, folder: Path, program: Path) -> None:
    split = folder / "preprocessed" / "Dataset004_Race" / "splits_final.json"
    started = time.monotonic()
    subprocess.run([program, "configure", source, "--out", folder / "race.yaml", "--hours", str(MINUTES[-1] / 60),
                    f"data.split.file={split}", "data.split.folds=0", "data.split.fold=0", f"output.dir={folder / 'runs' / source.name}"], check=True)
    training = subprocess.Popen([program, "run", folder / "race.yaml"])
    for minute in MINUTES[:-1]:
        while time.monotonic() - started < 60 * minute and training.poll() is None:
            time.sleep(0.2)
        shutil.copytree(folder / "runs", folder / f"voxswap_{minute}")
    if training.wait() != 0:
        raise SystemExit("voxswap run failed")
    print(f"voxswap, all together: {time.monotonic() - started:.0f} s")
    shutil.copytree(folder / "runs", folder / f"voxswap_{MINUTES[-1]}")
    for minute in MINUTES:
        subprocess.run([program, "predict", folder / f"voxswap_{minute}" / source.name, "--input", source, "--quiet", "--out",
                        folder / "predictions" / f"voxswap_{minute}"], check=True)


def score(source: Path, folder: Path) -> None:
    import nibabel
    import numpy
    split = folder / "preprocessed" / "Dataset004_Race" / "splits_final.json"
    held_out = json.loads(split.read_text())[0]["val"]
    labels = {1: "anterior", 2: "posterior"}
    with open(folder / "rows.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["program", "minute", "case", "label", "dice"])
        for predictions in sorted((folder / "predictions").iterdir()):
            name, minute = predictions.name.split("_")
            for case in held_out:
                said = numpy.asarray(nibabel.load(predictions / f"{case}.nii.gz").dataobj)
                true = numpy.asarray(nibabel.load(source / "labelsTr" / f"{case}.nii.gz").dataobj)
                for label, text in labels.items():
                    a, b = said == label, true == label
                    rows.writerow([name, minute, case, text, f"{2 * (a & b).sum() / (a.sum() + b.sum()):.6f}"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("nnunet", "voxswap", "score"))
    parser.add_argument("dataset", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/voxswap"))
    given = parser.parse_args()
    if given.step == "nnunet":
        nnunet(given.dataset.resolve(), given.folder.resolve())
    elif given.step == "voxswap":
        voxswap(given.dataset.resolve(), given.folder.resolve(), given.program.resolve())
    else:
        score(given.dataset.resolve(), given.folder.resolve())
