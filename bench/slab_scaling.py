"""One volume on 1 to 64 H100s, simulated: `voxswap plan --slabs` with NVLink among 8 ranks and InfiniBand between machines.

    python3 bench/slab_scaling.py run build/release/bin/voxswap > slabs.csv
    python3 bench/slab_scaling.py table slabs.csv
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

EXPERIMENT = """name: slabs
data: {root: data/none, modalities: [t1, t1ce, t2, flair], labels: {necrosis: 1, oedema: 2, enhancing: 4}}
network: {name: isensee2017, base_filters: 16, depth: 5}
training: {precision: bf16}
memory: {host: 300GiB}
"""
PER_MACHINE = 8
COLUMNS = ["side", "ranks", "step_seconds", "ideal_seconds", "speed_up", "efficiency", "memory_bytes", "swapped_bytes",
           "halo_bytes", "exchange_seconds"]


def plan(program, experiment, side, ranks):
    command = [program, "plan", experiment, "--as", "h100", "--json", f"preprocess.resolution={side}"]
    if ranks > 1:
        command += ["--slabs", str(ranks), "--within", "nvlink", "--network", "ib" if ranks > PER_MACHINE else "nvlink"]
    if ranks > PER_MACHINE:
        command += ["--nodes", str(ranks // PER_MACHINE)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(out)["forecast"]


def run(program):
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        experiment = os.path.join(folder, "slabs.yaml")
        with open(experiment, "w") as file:
            file.write(EXPERIMENT)
        for side in (256, 512, 1024, 2048):
            for ranks in [2**i for i in range(7)]:
                if side == 2048 and ranks < 64:
                    continue
                found = plan(program, experiment, side, ranks)
                several = found.get("ranks", {})
                # Time of one rank in unlimited memory.
                ideal = several.get("alone_step_seconds", found["compute_seconds"])
                step = found["predicted_step_seconds"]
                rows.writerow([side, ranks, step, ideal, ideal * ranks / step, ideal / step, found["device_peak_bytes"],
                               found["swapped_out_bytes"], several.get("halo_bytes", 0),
                               several.get("exchange_seconds", 0)])
                sys.stdout.flush()


def table(path):
    print("| volume | ranks | memory of a rank | swapped per step | step | efficiency |")
    print("|---|---|---|---|---|---|")
    with open(path) as file:
        for row in csv.DictReader(file):
            swapped = int(row["swapped_bytes"]) / 2**30
            print(f"| {row['side']}^3 | {row['ranks']} | {int(row['memory_bytes']) / 2**30:.2f} GiB | "
                  f"{f'{swapped:.1f} GiB' if swapped else 'nothing'} | {1e3 * float(row['step_seconds']):.1f} ms | "
                  f"{100 * float(row['efficiency']):.0f} % |")


if len(sys.argv) != 3 or sys.argv[1] not in ("run", "table"):
    sys.exit(__doc__)
run(sys.argv[2]) if sys.argv[1] == "run" else table(sys.argv[2])
