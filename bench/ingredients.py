"""Measures the effect of each training ingredient: one network, one split, one ingredient added or removed at a time.

    python3 bench/ingredients.py build/release/bin/voxswap HIPPOCAMPUS FOLDER "PROCESSOR"

HIPPOCAMPUS is the data of experiments/hippocampus.yaml, whose augmentation is used. FOLDER keeps the runs, which run
two at a time on one core each; existing ones are skipped. It receives ingredients.csv (a row per ingredient and label:
paired differences of 40 cases from the plain recipe, means over the seeds, by `voxswap report`'s comparison) and
curves.csv (a row per run and epoch: mean Dice on the training grid).
"""

import concurrent.futures
import csv
import os
import queue
import subprocess
import sys

SEEDS = [1, 2]
PLAIN = ["data.split.folds=0", "training.patch=none", "training.deep_supervision=none", "network.name=plain_unet",
         "network.base_filters=8", "network.dropout=0", "training.epochs=16", "evaluate.metrics=[dice]",
         "evaluate.postprocessing=none", "output.viewer=none", "memory.planner=keep"]
SGD = ["training.optimizer.name=sgd", "training.optimizer.learning_rate=0.01", "training.schedule.name=poly"]
PATCHES = ["training.patch=[32, 32, 32]"]
BATCH = ["training.batch_size=2"]
# (name of the ingredient, name of its reference, its keys)
INGREDIENTS = [
    ("plain", None, []),
    ("SGD with momentum, poly", "plain", SGD),
    ("clipping at 12 (with SGD)", "SGD with momentum, poly", [*SGD, "training.optimizer.clip=12"]),
    ("soft-max cross entropy and Dice", "plain", ["training.loss=softmax_dice_cross_entropy"]),
    ("deep supervision", "plain", ["training.deep_supervision=[1, 0.5]"]),
    ("two cases per step", "plain", BATCH),
    ("batch Dice (two cases)", "two cases per step", [*BATCH, "training.batch_dice=true"]),
    ("focal, gamma 2", "plain", ["training.focal_gamma=2"]),
    ("class weights", "plain", ["training.class_weights=auto"]),
    ("label smoothing 0.1", "plain", ["training.label_smoothing=0.1"]),
    ("averaging, ema 0.999", "plain", ["training.averaging.name=ema"]),
    ("averaging, swa", "plain", ["training.averaging.name=swa"]),
    ("no augmentation", "plain", [f"training.augment.{key}" for key in (
        "preset=none", "flip=0", "rotation=0", "zoom=0", "elastic=0")]),
    ("patches", "plain", [*PATCHES, "training.foreground=0"]),
    ("a third around labels (patches)", "patches", [*PATCHES, "training.foreground=0.33"]),
    ("isensee2017", "plain", ["network.name=isensee2017"]),
    ("resenc_unet", "plain", ["network.name=resenc_unet"]),
    ("twice the filters", "plain", ["network.base_filters=16"]),
    ("all of nnU-Net's", "plain", [*SGD, *BATCH, "training.optimizer.clip=12", "training.optimizer.weight_decay=3e-5",
                                   "training.loss=softmax_dice_cross_entropy",
                                   "training.deep_supervision=[1, 0.5]"]),
]


def folder_of(name, seed):
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") + f"_{seed}"


def main():
    program, data, folder, processor = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    experiment = os.path.join(os.path.dirname(__file__), "..", "experiments", "hippocampus.yaml")
    cores = queue.SimpleQueue()
    for core in sorted(os.sched_getaffinity(0))[:2]:
        cores.put(core)

    def train(job):
        (name, _, keys), seed = job
        out = os.path.join(folder, folder_of(name, seed))
        if os.path.exists(os.path.join(out, "report.html")):
            return
        core = cores.get()
        try:
            subprocess.run(["taskset", "-c", str(core), program, "run", experiment, f"data.root={data}", "--out", out,
                            "--quiet", *(["--resume"] if os.path.exists(out) else []), *PLAIN, *keys,
                            f"training.seed={seed}"], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
                           stdout=sys.stderr)
        finally:
            cores.put(core)

    jobs = [(ingredient, seed) for seed in SEEDS for ingredient in INGREDIENTS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(train, jobs))
    with open(os.path.join(folder, "curves.csv"), "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["processor", "ingredient", "seed", "epoch", "trained_seconds", "dice", "averaged_dice"])
        for (name, _, _), seed in jobs:
            of_epoch = {}
            with open(os.path.join(folder, folder_of(name, seed), "validation.csv")) as table:
                for row in csv.DictReader(table):
                    of_epoch.setdefault((int(row["epoch"]), row["trained_seconds"]), []).append(row)
            for (epoch, seconds), cases in of_epoch.items():
                mean = lambda column: "" if not cases[0].get(column) else \
                    f"{sum(float(case[column]) for case in cases) / len(cases):.4f}"
                rows.writerow([processor, name, seed, epoch, seconds, mean("dice"), mean("averaged_dice")])
    with open(os.path.join(folder, "ingredients.csv"), "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["processor", "ingredient", "beside", "region", "n", "mean_beside", "mean", "difference",
                       "interval_low", "interval_high", "p"])
        for name, beside, _ in INGREDIENTS:
            if beside is None:
                continue
            out = os.path.join(folder, "compared", folder_of(name, 0))
            subprocess.run([program, "report", *[os.path.join(folder, folder_of(of, seed)) for of in (beside, name)
                                                 for seed in SEEDS], "--out", out, "--force", "--quiet"], check=True,
                           stdout=sys.stderr)
            with open(os.path.join(out, "comparison.csv")) as table:
                for row in csv.DictReader(table):
                    if row["metric"] == "dice":
                        rows.writerow([processor, name, beside, row["region"], row["n"],
                                       *[row[c] for c in ("mean_a", "mean_b", "mean_difference", "interval_low",
                                                          "interval_high", "p")]])


if __name__ == "__main__":
    main()
