"""Compares training from another run's weights with training from random weights.

A network learns whole tumours (one region) on one set of phantoms. It is then trained on a smaller set with another
seed and three labels, in three ways: from random weights, from those weights (network.init), and from them with a
frozen encoder (training.freeze).

    python3 bench/fine_tuning.py build/release/bin/voxswap FOLDER "PROCESSOR" > fine_tuning.csv

FOLDER keeps the runs; `voxswap report` can merge any of them. A row is one epoch of one run: the mean Dice of the
validation cases over the three regions, on the training grid.
"""

import collections
import csv
import os
import subprocess
import sys

EXPERIMENT = """data: {split: {validation: 0.5}, modalities: [t1ce, t2, flair]}
preprocess: {resolution: 32}
network: {name: isensee2017, base_filters: 8, depth: 4, dropout: 0}
training:
  optimizer: {learning_rate: 1.0e-3}
  schedule: {name: constant}
  early_stop: 0
  loss: dice_cross_entropy
  precision: f32
  augment: {symmetries: false}
evaluate: {at: training, metrics: [dice]}
output: {viewer: none}
"""
SOURCE = ["data.regions={whole: [1, 2, 4]}", "training.targets=regions", "data.split.validation=0.2",
          "training.epochs=16"]
TASK = ["training.epochs=16"]
SEEDS = [1, 2, 3]


def train(program, experiment, data, out, keys):
    subprocess.run([program, "run", experiment, f"data.root={data}", "--out", out, "--quiet", *keys], check=True,
                   stdout=sys.stderr)


def main():
    program, folder, processor = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    experiment = os.path.join(folder, "fine_tuning.yaml")
    with open(experiment, "w") as file:
        file.write(EXPERIMENT)
    for name, cases, seed in [("source", 20, 11), ("task", 12, 77)]:
        subprocess.run([program, "phantom", "--out", f"{folder}/{name}", "--cases", str(cases), "--size", "32", "--seed",
                        str(seed), "--quiet"], check=True, stdout=sys.stderr)
    train(program, experiment, f"{folder}/source", f"{folder}/first", SOURCE)
    begun = [f"network.init={folder}/first"]
    variants = {"random": [], "init": begun, "init, encoder frozen": [*begun, "training.freeze=encoder"]}
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["processor", "begins", "seed", "epoch", "trained_seconds", "dice"])
    for seed in SEEDS:
        for variant, keys in variants.items():
            out = f"{folder}/{variant.replace(', ', '_').replace(' ', '_')}_{seed}"
            train(program, experiment, f"{folder}/task", out, [*TASK, *keys, f"training.seed={seed}"])
            of_epoch = collections.defaultdict(list)
            with open(f"{out}/validation.csv") as file:
                for row in csv.DictReader(file):
                    of_epoch[int(row["epoch"]), row["trained_seconds"]].append(float(row["dice"]))
            for (epoch, seconds), dice in of_epoch.items():
                rows.writerow([processor, variant, seed, epoch, seconds, f"{sum(dice) / len(dice):.4f}"])


if __name__ == "__main__":
    main()
