"""Predicts data parallel training on up to 1,024 ranks: `voxswap plan --ranks` for the study's machine and a newer one.

    python3 bench/ranks.py run build/release/bin/voxswap > ranks.csv
    python3 bench/ranks.py table ranks.csv
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

EXPERIMENT = """name: ranks
data: {root: data/none, modalities: [t1, t1ce, t2, flair], labels: {necrosis: 1, oedema: 2, enhancing: 4}}
memory: {host: 300GiB}
"""
MACHINES = [  # (name, device, keys, ranks per machine)
    ("the study's AC922, 192^3, f32", "v100-study", ["preprocess.resolution=192", "training.precision=f32"], 4),
    ("8 H200, 192^3, bf16", "h200", ["preprocess.resolution=192", "training.precision=bf16"], 8),
]
NETWORK = "12.5GB/s"
CASES = 228  # cases per epoch in the study
PUBLISHED = {1: 590, 4: 150, 8: 76, 16: 40}  # seconds of an epoch, DDL
COLUMNS = ["machine", "ranks", "nodes", "step_seconds", "exchange_seconds", "exposed_seconds", "efficiency", "limit"]


def plan(program, experiment, device, keys, ranks, nodes):
    command = [program, "plan", experiment, "--as", device, "--json", *keys, f"training.batch_size={ranks}"]
    if ranks > 1:
        command += ["--ranks", str(ranks), "--nodes", str(nodes)]
    if nodes > 1:
        command += ["--network", NETWORK]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(out)["forecast"]


def run(program):
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        experiment = os.path.join(folder, "ranks.yaml")
        with open(experiment, "w") as file:
            file.write(EXPERIMENT)
        for name, device, keys, per_node in MACHINES:
            for ranks in [2**i for i in range(11)]:
                nodes = max(1, ranks // per_node)
                found = plan(program, experiment, device, keys, ranks, nodes)
                several = found.get("ranks", {"step_seconds": found["predicted_step_seconds"], "exchange_seconds": 0,
                                              "exposed_seconds": 0, "efficiency": 1, "limit": "computing"})
                rows.writerow([name, ranks, nodes] + [several[column] for column in COLUMNS[3:]])


def table(path):
    print("| | ranks | machines | step | exchange | of it not hidden | efficiency | epoch of 228 | published epoch | published efficiency |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with open(path) as file:
        for row in csv.DictReader(file):
            ranks, step = int(row["ranks"]), float(row["step_seconds"])
            published = PUBLISHED.get(ranks) if "study" in row["machine"] else None
            cells = [row["machine"], ranks, row["nodes"], f"{step:.3f} s", f"{1e3 * float(row['exchange_seconds']):.1f} ms",
                     f"{1e3 * float(row['exposed_seconds']):.2f} ms", f"{100 * float(row['efficiency']):.2f} %",
                     f"{step * CASES / ranks:.3g} s", f"{published} s" if published else "",
                     f"{100 * PUBLISHED[1] / published / ranks:.1f} %" if published else ""]
            print("| " + " | ".join(str(cell) for cell in cells) + " |")


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](sys.argv[2])
