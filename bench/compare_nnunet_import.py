#!/usr/bin/env python3
"""Compares label maps of `voxswap import RESULTS_FOLDER` and `voxswap predict` with those of nnUNetv2_predict.

    python3 -m venv venv && venv/bin/pip install nnunetv2
    venv/bin/python bench/compare_nnunet_import.py --voxswap build/release/bin/voxswap --work WORK --hippocampus DATA \
      --tumours DATA

Makes data sets, plans them with nnU-Net, trains some networks with nnU-Net's trainer for a few short epochs, gives
others random weights, and fine-tunes these with voxswap, which writes them back as a results folder. Predicts new cases
with both programs on the CPU in f32, one after the other. Prints a row of a table per data set: equal voxels, and
seconds and the peak memory of the largest process of each program. Needs no GPU. Data sets and networks that are there
are not made again. The data are the Decathlon's hippocampus and a folder of BraTS 2018.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import SimpleITK as sitk
import torch

from process import measured

BLOBS = 12
EPOCHS = 8  # of nnU-Net's trainer
EPOCHS_OF_SCANS = 30  # after 8, networks for hippocampi labelled nothing but background
SHORT = dict(iterations=50, validation=2, tuned=25)  # steps of an epoch of nnU-Net's trainer; epochs of voxswap

# name: spacing and size along x, y, z; channels and their kind; 0 outside a body, normalised within it (masked);
# regions; planner; folds, 2 unless given
SETS = {
    "Dataset901_Isotropic": dict(spacing=(1, 1, 1), size=(44, 52, 40), channels=("T1",), planner="ExperimentPlanner"),
    "Dataset902_Anisotropic": dict(spacing=(0.8, 0.8, 4), size=(72, 80, 14), channels=("T2", "ADC"), zeros=True,
                                   regions=True, planner="ExperimentPlanner"),
    "Dataset903_CT": dict(spacing=(3.1, 0.9, 1.1), size=(16, 70, 66), channels=("CT",), planner="ExperimentPlanner"),
    "Dataset904_Residual": dict(spacing=(1.2, 1, 1.1), size=(50, 48, 56), channels=("T1", "rescale_to_0_1", "noNorm"),
                                planner="nnUNetPlannerResEncM"),
    "Dataset905_Ignore": dict(spacing=(1, 1, 1.5), size=(48, 48, 40), channels=("T1",), ignore=True,
                              planner="ExperimentPlanner"),
    "Dataset906_Masked": dict(spacing=(1, 1, 1), size=(48, 44, 40), channels=("T1", "FLAIR"), zeros=True, masked=True,
                              planner="ExperimentPlanner", folds=5),
}


CASCADE = "3d_cascade_fullres"


def add_cascade(configurations):
    """The two networks that nnU-Net plans for volumes much larger than a patch."""
    coarse = [1.5 * side for side in configurations["3d_fullres"]["spacing"]]
    configurations["3d_lowres"] = {"inherits_from": "3d_fullres", "spacing": coarse, "next_stage": CASCADE}
    configurations[CASCADE] = {"inherits_from": "3d_fullres", "previous_stage": "3d_lowres"}


def smooth(rng, shape, scale):
    field = torch.from_numpy(rng.standard_normal([max(2, s // scale) for s in shape]))[None, None]
    return torch.nn.functional.interpolate(field, size=shape, mode="trilinear", align_corners=False)[0, 0].numpy()


def make_case(rng, what):
    """Channels and labels (z, y, x) of one case: nested blobs in a textured body."""
    shape = tuple(int(s * rng.uniform(0.85, 1.15)) for s in what["size"][::-1])
    at = np.meshgrid(*[np.linspace(-1, 1, s) for s in shape], indexing="ij")
    distance = np.sqrt(sum(((a - rng.uniform(-0.3, 0.3)) / rng.uniform(0.4, 0.7)) ** 2 for a in at))
    distance = distance + 0.15 * smooth(rng, shape, 6)
    labels = (distance < 1).astype(np.uint8) + (distance < 0.6)
    if what.get("ignore"):
        labels[(at[0] > 0.7)] = 3
    body = sum(a ** 2 for a in at) < 1.6 if what.get("zeros") else np.ones(shape, bool)
    channels = []
    for name in what["channels"]:
        image = 300 + 120.0 * labels.clip(0, 2) + 60 * smooth(rng, shape, 5) + 25 * rng.standard_normal(shape)
        image = image - 900 if name == "CT" else image
        channels.append(np.where(body, image, 0).astype(np.float32))
    return channels, np.where(body, labels, 0).astype(np.uint8)


def write_image(array, path, spacing, turned):
    image = sitk.GetImageFromArray(array)
    image.SetSpacing([float(s) for s in spacing])
    image.SetOrigin((11.0, -7.0, 3.5))
    if turned:
        image.SetDirection((-1, 0, 0, 0, -1, 0, 0, 0, 1))
    sitk.WriteImage(image, str(path), True)


def make_dataset(root, name, what, cases, new):
    folder = root / name
    if folder.is_dir():
        return
    rng = np.random.default_rng(sum(map(ord, name)))
    for sub in ("imagesTr", "labelsTr", "imagesTs"):
        (folder / sub).mkdir(parents=True)
    for i in range(cases + new):
        channels, labels = make_case(rng, what)
        spacing = [s * rng.choice([0.9, 1, 1.15]) for s in what["spacing"]]
        case, part = f"case_{i:03}", "imagesTr" if i < cases else "imagesTs"
        for c, channel in enumerate(channels):
            write_image(channel, folder / part / f"{case}_{c:04}.nii.gz", spacing, i % 2 == 1)
        if i < cases:
            write_image(labels, folder / "labelsTr" / f"{case}.nii.gz", spacing, i % 2 == 1)
    named = {"background": 0, "edge": 1, "core": 2}
    if what.get("regions"):
        named = {"background": 0, "whole": [1, 2], "core": 2}
    if what.get("ignore"):
        named["ignore"] = 3
    description = {"channel_names": {str(i): c for i, c in enumerate(what["channels"])}, "labels": named,
                   "numTraining": cases, "file_ending": ".nii.gz"}
    if what.get("regions"):
        description["regions_class_order"] = [1, 2]
    (folder / "dataset.json").write_text(json.dumps(description, indent=1))


def copy_hippocampus(root, source, cases, new):
    folder = root / "Dataset910_Hippocampus"
    if not folder.is_dir():
        names = sorted(p.name for p in (source / "imagesTr").glob("hippocampus_*.nii.gz"))
        for sub in ("imagesTr", "labelsTr", "imagesTs"):
            (folder / sub).mkdir(parents=True)
        for i, name in enumerate(names[:cases + new]):
            shutil.copy(source / "imagesTr" / name,
                        folder / ("imagesTr" if i < cases else "imagesTs") / name.replace(".nii.gz", "_0000.nii.gz"))
            if i < cases:
                shutil.copy(source / "labelsTr" / name, folder / "labelsTr" / name)
        (folder / "dataset.json").write_text(json.dumps(
            {"channel_names": {"0": "MRI"}, "labels": {"background": 0, "anterior": 1, "posterior": 2},
             "numTraining": cases, "file_ending": ".nii.gz"}))
    return folder.name


def copy_tumours(root, source, cases, new):
    """Four modalities and three regions, with the label values of nnU-Net's own conversion of BraTS."""
    folder = root / "Dataset911_Tumours"
    if not folder.is_dir():
        for sub in ("imagesTr", "labelsTr", "imagesTs"):
            (folder / sub).mkdir(parents=True)
        for i, labels in enumerate(sorted(source.rglob("*_seg.nii.gz"))[:cases + new]):
            case = labels.name.replace("_seg.nii.gz", "")
            for c, channel in enumerate(("t1", "t1ce", "t2", "flair")):
                shutil.copy(labels.with_name(f"{case}_{channel}.nii.gz"),
                            folder / ("imagesTr" if i < cases else "imagesTs") / f"{case}_{c:04}.nii.gz")
            if i < cases:
                image = sitk.ReadImage(str(labels))
                values = np.array([0, 2, 1, 0, 3], np.uint8)[sitk.GetArrayFromImage(image)]
                renamed = sitk.GetImageFromArray(values)
                renamed.CopyInformation(image)
                sitk.WriteImage(renamed, str(folder / "labelsTr" / f"{case}.nii.gz"), True)
        (folder / "dataset.json").write_text(json.dumps(
            {"channel_names": {"0": "T1", "1": "T1ce", "2": "T2", "3": "FLAIR"},
             "labels": {"background": 0, "whole": [1, 2, 3], "core": [2, 3], "enhancing": 3},
             "regions_class_order": [1, 2, 3], "numTraining": cases, "file_ending": ".nii.gz"}))
    return folder.name


class NnUNet:
    """nnU-Net's programs with their folders."""

    def __init__(self, work, voxswap):
        self.work, self.voxswap = work, voxswap
        self.folders = {key: work / key for key in ("nnUNet_raw", "nnUNet_preprocessed", "nnUNet_results")}
        for key, folder in self.folders.items():
            folder.mkdir(parents=True, exist_ok=True)
            os.environ[key] = str(folder)
        os.environ.update({"nnUNet_def_n_proc": "2", "nnUNet_n_proc_DA": "1", "nnUNet_compile": "f"})

    def call(self, program, *arguments):
        command = [str(Path(sys.executable).with_name(program)), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")

    def plans(self, name, planner):
        """The file of plans, made small enough for a CPU."""
        number = int(name[7:10])
        plans = "nnUNetPlans" if planner == "ExperimentPlanner" else "nnUNetResEncUNetMPlans"
        file = self.folders["nnUNet_preprocessed"] / name / f"{plans}.json"
        if file.is_file():
            return file
        self.call("nnUNetv2_extract_fingerprint", "-d", number, "-np", 2)
        self.call("nnUNetv2_plan_experiment", "-d", number, "-pl", planner)
        text = json.loads(file.read_text())
        for configuration in text["configurations"].values():
            kwargs = configuration.get("architecture", {}).get("arch_kwargs")
            if kwargs:
                kwargs["features_per_stage"] = [min(8 << i, 64) for i in range(kwargs["n_stages"])]
                configuration["batch_size"] = 2
                if SETS.get(name, {}).get("masked"):
                    configuration["use_mask_for_norm"] = [True] * len(SETS[name]["channels"])
        add_cascade(text["configurations"])
        file.write_text(json.dumps(text, indent=1))
        return file

    def results(self, name, planner, trainer, configuration):
        plans = self.plans(name, planner).stem
        return self.folders["nnUNet_results"] / name / f"{trainer}__{plans}__{configuration}"

    def random(self, name, planner, folds, configuration="3d_fullres"):
        """A results folder with random weights, as the trainer would write it."""
        from nnunetv2.utilities.get_network_from_plans import get_network_from_plans
        from nnunetv2.utilities.label_handling.label_handling import determine_num_input_channels
        from nnunetv2.utilities.plans_handling.plans_handler import PlansManager
        if configuration == CASCADE:
            self.random(name, planner, folds, "3d_lowres")
        folder = self.results(name, planner, "nnUNetTrainer", configuration)
        if folder.is_dir():
            return folder
        plans = json.loads(self.plans(name, planner).read_text())
        dataset = json.loads((self.folders["nnUNet_raw"] / name / "dataset.json").read_text())
        manager = PlansManager(plans)
        used = manager.get_configuration(configuration)
        for fold in range(folds):
            torch.manual_seed(fold)
            network = get_network_from_plans(
                used.network_arch_class_name, used.network_arch_init_kwargs, used.network_arch_init_kwargs_req_import,
                determine_num_input_channels(manager, used, dataset),
                manager.get_label_manager(dataset).num_segmentation_heads, deep_supervision=True)
            for parameter in network.parameters():  # norms and biases that matter
                if parameter.ndim == 1:
                    parameter.data += 0.1 * torch.randn_like(parameter)
            (folder / f"fold_{fold}").mkdir(parents=True)
            torch.save({"network_weights": network.state_dict(), "trainer_name": "nnUNetTrainer",
                        "init_args": {"configuration": configuration, "fold": fold, "device": torch.device("cpu")},
                        "inference_allowed_mirroring_axes": tuple(range(len(used.patch_size))), "current_epoch": 1,
                        "_best_ema": np.float64(0.5)}, folder / f"fold_{fold}" / "checkpoint_final.pth")
        (folder / "plans.json").write_text(json.dumps(plans))
        (folder / "dataset.json").write_text(json.dumps(dataset))
        return folder

    def trained(self, name, planner, folds, configuration="3d_fullres"):
        """Trains with nnU-Net's trainer, for few and short epochs."""
        trainer = "nnUNetTrainerShort"
        self.install(trainer, EPOCHS if name in SETS else EPOCHS_OF_SCANS)
        folder = self.results(name, planner, trainer, configuration)
        number, plans = int(name[7:10]), self.plans(name, planner).stem
        if not (self.folders["nnUNet_preprocessed"] / name / f"{plans}_{configuration}").is_dir():
            self.call("nnUNetv2_preprocess", "-d", number, "-c", configuration, "-plans_name", plans, "-np", 2)
        for fold in range(folds):
            if not (folder / f"fold_{fold}" / "checkpoint_final.pth").is_file():
                self.call("nnUNetv2_train", number, configuration, fold, "-tr", trainer, "-p", plans, "-device", "cpu")
        return folder

    def tuned(self, name, planner, folds, configuration="3d_fullres"):
        """Imports random weights, trains them with voxswap, and exports the run."""
        folder = self.results(name, planner, "nnUNetTrainerVoxswap", configuration)
        if folder.is_dir():
            return folder
        source = self.random(name, planner, folds, configuration)
        run, tuned = (self.work / "runs" / f"{name}_{configuration}_{what}" for what in ("source", "tuned"))
        for path in (run, tuned):
            shutil.rmtree(path, ignore_errors=True)
        steps = [["import", source, "--out", run],
                 ["run", run / "experiment.yaml", f"data.root={self.folders['nnUNet_raw'] / name}", f"output.dir={tuned}",
                  f"data.cache={self.work / 'cache'}",
                  f"network.init={run}", f"training.epochs={SHORT['tuned']}", f"training.repeats={folds}",
                  "training.optimizer={name: adam, learning_rate: 0.001}", "training.schedule.name=cosine",
                  "training.augment.flip=[0.5, 0, 0]"],  # mirrored from front to back, labels would be alike
                 ["export", tuned, "--to", "nnunet", "--out", folder]]
        for step in steps:
            subprocess.run([self.voxswap, *map(str, step), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return folder

    @staticmethod
    def install(trainer, epochs):
        import nnunetv2
        variants = Path(nnunetv2.__path__[0]) / "training" / "nnUNetTrainer" / "variants" / "training_length"
        (variants / f"{trainer}.py").write_text(
            "from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer\n\n\n"
            f"class {trainer}(nnUNetTrainer):\n"
            "    def __init__(self, plans, configuration, fold, dataset_json, device):\n"  # the names are inspected
            "        super().__init__(plans, configuration, fold, dataset_json, device)\n"
            f"        self.num_epochs = {epochs}\n"
            f"        self.num_iterations_per_epoch = {SHORT['iterations']}\n"
            f"        self.num_val_iterations_per_epoch = {SHORT['validation']}\n")


def compare(voxswap, work, folder, images, folds):
    name = folder.parent.name
    key = f"{name}_{folder.name}"
    theirs, run, ours = work / "theirs" / key, work / "runs" / key, work / "ours" / key
    for path in (theirs, run, ours):
        shutil.rmtree(path, ignore_errors=True)
    stages = [(folder, theirs)]
    if folder.name.endswith(CASCADE):
        first = work / "theirs" / f"{key}_first"
        shutil.rmtree(first, ignore_errors=True)
        stages = [(folder.with_name(folder.name.replace(CASCADE, "3d_lowres")), first),
                  (folder, theirs, "-prev_stage_predictions", first)]
    their_seconds, their_peak = 0, 0
    for model, out, *previous in stages:
        seconds, _, peak = measured(
            [Path(sys.executable).with_name("nnUNetv2_predict_from_modelfolder"), "-i", images, "-o", out, "-m", model,
             "-device", "cpu", "-f", *range(folds), "-npp", 1, "-nps", 1, *previous])
        their_seconds, their_peak = their_seconds + seconds, max(their_peak, peak)
    subprocess.run([voxswap, "import", folder, "--out", run, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    our_seconds, _, our_peak = measured([voxswap, "predict", run, "--input", images, "--out", ours, "--quiet"])
    equal = voxels = 0
    worst, values = 1.0, set()
    for file in sorted(theirs.glob("*.nii.gz")):
        a, b = sitk.ReadImage(str(file)), sitk.ReadImage(str(ours / file.name))
        assert a.GetSize() == b.GetSize() and np.allclose(a.GetDirection(), b.GetDirection(), atol=1e-5), file
        a, b = sitk.GetArrayFromImage(a), sitk.GetArrayFromImage(b)
        same = int((a == b).sum())
        worst = min(worst, same / a.size)
        equal, voxels, values = equal + same, voxels + a.size, values | set(np.unique(a).tolist())
    network = "residual" if "ResEnc" in folder.name else "plain"
    weights = next((kind for part, kind in (("Short", "trained"), ("Voxswap", "tuned")) if part in folder.name), "random")
    kind = {"2d": ", 2d", CASCADE: ", cascade"}.get(folder.name.split("__")[2], "")
    print(f"| {name[11:]}, {network}{kind}, {weights}, {folds} folds | {100 * equal / voxels:.4f} % | {100 * worst:.4f} % "
          f"| {len(values)} | {their_seconds:.1f} s, {their_peak / 2**20:,.0f} MiB | {our_seconds:.1f} s, {our_peak / 2**20:,.0f} MiB "
          f"| {their_seconds / our_seconds:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voxswap", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--hippocampus", type=Path)
    parser.add_argument("--tumours", type=Path)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="data sets and configurations with one of these words")
    parser.add_argument("--prepare", action="store_true", help="make the results folders only")
    arguments = parser.parse_args()
    nnunet, raw = NnUNet(arguments.work, arguments.voxswap), arguments.work / "nnUNet_raw"
    for name, what in SETS.items():
        make_dataset(raw, name, what, cases=6, new=3)
    plain = "ExperimentPlanner"
    jobs = [(name, what["planner"], "random", what.get("folds", 2), "3d_fullres") for name, what in SETS.items()]
    jobs += [("Dataset902_Anisotropic", plain, "trained", 2, "3d_fullres"),
             ("Dataset902_Anisotropic", plain, "trained", 2, "2d"), ("Dataset903_CT", plain, "random", 2, "2d"),
             ("Dataset904_Residual", "nnUNetPlannerResEncM", "random", 2, "2d"),
             ("Dataset902_Anisotropic", plain, "random", 2, CASCADE), ("Dataset903_CT", plain, "random", 2, CASCADE),
             ("Dataset906_Masked", plain, "random", 2, CASCADE)]
    if arguments.hippocampus:
        hippocampus = copy_hippocampus(raw, arguments.hippocampus, 40, 20)
        jobs = [(hippocampus, plain, *kind) for kind in (("random", 2, "3d_fullres"), ("tuned", 2, "3d_fullres"),
                                                         ("trained", 2, "3d_fullres"), ("trained", 2, "2d"))] + jobs
    if arguments.tumours:
        tumours = copy_tumours(raw, arguments.tumours, 6, 2)
        jobs += [(tumours, plain, kind, 1, "3d_fullres") for kind in ("random", "tuned")]
    jobs = [job for job in jobs if not arguments.only or any(word in " ".join(map(str, job)) for word in arguments.only)]
    if not arguments.prepare:
        print("| network | equal voxels | worst case | labels | nnU-Net | voxswap | times as fast |")
        print("|---|---|---|---|---|---|---|")
    for name, planner, kind, folds, configuration in jobs:
        folder = getattr(nnunet, kind)(name, planner, folds, configuration)
        if not arguments.prepare:
            compare(arguments.voxswap, arguments.work, folder, raw / name / "imagesTs", folds)


if __name__ == "__main__":
    main()
