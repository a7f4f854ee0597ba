#!/usr/bin/env python3
"""Runs one item of tests/gpu_check --part study: each measured cell (bench/gpu/measurements.py) is appended as a row of
OUT/study.csv at once.

    GPU_CHECK_SECONDS=60 study.py SETTINGS ITEM

Cells that have a row are not measured again; cells that failed before come last. The summary shows the last line that
begins with "result: ". Exit code 1: a cell failed; 77: not applicable on this machine.
"""
import csv
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

from runner import NOT_HERE
from settings import ROOT, Settings

sys.path.insert(0, str(ROOT / "bench" / "gpu"))
from measurements import COLUMNS, items  # noqa: E402
from results import append_row, device_kind, is_done, key_of, measured_rows, read_rows  # noqa: E402

EXPERIMENT = """name: study
data: {root: nowhere, modalities: [t1, t1ce, t2, flair], labels: {necrosis: 1, oedema: 2, enhancing: 4}}
"""
GIB = 1 << 30


class Refused(Exception):
    """A cell without figures; the message is its status."""


def output_of(command, limit, env=None):
    """Returns (output, seconds). Raises Refused on a timeout or a non-zero exit code."""
    print("$ " + " ".join(map(str, command)), flush=True)
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=max(limit, 1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise Refused(f"stopped after {limit:.0f} s") from None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    print(out[-4000:], err[-4000:], sep="\n", flush=True)
    if process.returncode == 4:
        raise Refused("does not fit: " + (err.strip().splitlines() or [""])[-1][:300])
    if process.returncode != 0:
        raise Refused(f"failed ({process.returncode}): " + (err.strip().splitlines() or out.strip().splitlines() or [""])[-1][:300])
    return out, time.monotonic() - start


class Study:
    def __init__(self, settings):
        self.settings = settings
        self.file = pathlib.Path(settings.out) / "study.csv"
        self.store = pathlib.Path(settings.store)
        self.store.mkdir(parents=True, exist_ok=True)
        self.experiment = self.store / "study.yaml"
        self.experiment.write_text(EXPERIMENT)

    def rows(self):
        return {key_of(row): row for row in read_rows(self.file)}

    def add(self, item, cell, row):
        append_row(self.file, COLUMNS, {"date": datetime.date.today().isoformat(), **self.settings.about, "item": item.name, "cell": cell.name,
                                        "side": cell.side or "", "precision": cell.precision, "planner": cell.planner, **row})
        print(f"{item.name}: {cell.name}: {row['status']} {row.get('step_seconds', '')} {row.get('note', '')}", flush=True)

    def measure(self, item, cell, limit):
        start = time.monotonic()
        try:
            row = {"status": "ok", "program": "voxswap", **MEASURES[cell.kind](self, cell, limit)}
        except Refused as why:
            row = {"status": str(why)}
        self.add(item, cell, {"wall_seconds": time.monotonic() - start, **row})

    def voxswap(self, *words, limit, env=None):
        return output_of([self.settings.program("voxswap"), *words], limit, env)

    def place(self):
        return [f"data.cache={self.store / 'cache'}", "memory.device=cuda"]

    def keys(self, *more):
        """Adds the network's size, unless `more` sets it."""
        named = {word.split("=")[0] for word in more}
        network = {"network.base_filters": self.settings.filters, "network.depth": self.settings.depth}
        return [f"{key}={value}" for key, value in network.items() if key not in named] + [*self.place(), *more]


# --- measuring functions: each takes (study, cell, seconds) and returns columns of the cell's row


def pytorch_version(limit):
    try:
        said, _ = output_of([sys.executable, "-c", "import torch; print(torch.__version__)"], limit)
    except Refused as why:
        raise Refused("skipped: python3 has no PyTorch here") if str(why).startswith("failed") else why
    return said.strip().splitlines()[-1]


def limits(study, cell, limit):
    pytorch_version(limit)
    said, _ = output_of([sys.executable, ROOT / "bench/gpu_limits.py", "--device", study.settings.pytorch_device()], limit)
    found = json.loads(said.strip().splitlines()[-1])
    return {"program": "PyTorch", "to_host_gbps": found["to_host_gbps"], "to_device_gbps": found["to_device_gbps"],
            "note": f"{found['matrix_tflops']:.0f} TFLOP/s in a bf16 product, {found['memory_gbps']:.0f} GB/s within the device, "
                    f"both ways {found['both_gbps']:.0f} GB/s, PyTorch {found['pytorch']}"}


def budget_of(study, cell):
    """Returns the budget in bytes: the cell's share of the peak of another cell."""
    other = study.rows().get(cell.within)
    if other is None or not other["peak_gib"]:
        raise Refused(f"failed: needs the row '{cell.within}'")
    return math.ceil(cell.share * float(other["peak_gib"]) * GIB)


def bench(study, cell, limit):
    budget = budget_of(study, cell) if cell.share else 0
    keys = study.keys(f"preprocess.resolution={cell.side}", f"training.precision={cell.precision}", f"memory.planner={cell.planner}", *cell.keys)
    if budget:
        keys += [f"memory.budget={budget}B", f"memory.host={study.settings.host_gib}GiB"]
    said, _ = study.voxswap("bench", study.experiment, *keys, "--steps", study.settings.study_steps, "--json", "--quiet", limit=limit)
    b = json.loads(said)
    return {"step_seconds": b["step_seconds_median"], "predicted_seconds": b["predicted_step_seconds"],
            "bound_seconds": b["bound_step_seconds"], "compute_seconds": b["compute_seconds"], "utilization": b["utilization"],
            "stall_seconds": b["stall_seconds"], "to_host_gbps": b["to_host_gbps"], "to_device_gbps": b["to_device_gbps"],
            "out_gb": b["swapped_out_bytes"] / 1e9, "in_gb": b["swapped_in_bytes"] / 1e9, "recomputed_nodes": b["recomputed_nodes"],
            "peak_gib": b["arena_bytes"] / GIB, "host_gib": b["host_bytes"] / GIB, "budget_gib": budget / GIB if budget else "",
            "cpu_seconds": b["step_cpu_seconds_mean"]}


def make_phantoms(study, name, limit, *words):
    """Creates phantoms once; returns their folder."""
    folder = study.store / name
    if not (folder / "made").exists():
        study.voxswap("phantom", "--out", folder / "cases", "--seed", 1, "--quiet", *words, limit=limit)
        (folder / "made").touch()
    return folder / "cases"


def hippocampus(study, cell, limit):
    settings = study.settings
    begin = time.monotonic()
    data = make_phantoms(study, "hippocampus", limit, "--cases", settings.hippocampus_cases, "--size", settings.hippocampus_size, "--layout", "msd")
    left = limit - (time.monotonic() - begin)
    return train(study, cell, ROOT / "experiments/hippocampus.yaml", left, *study.place(), f"data.root={data}", "data.modalities=[t1]",
                 f"training.epochs={settings.hippocampus_epochs}", *settings.hippocampus_keys)


def phantoms(study, cell, limit):
    settings = study.settings
    make_phantoms(study, "tumours", limit, "--cases", settings.epoch_cases, "--size", settings.epoch_size)
    return {"note": f"{settings.epoch_cases} phantoms of {settings.epoch_size} voxels"}


def epochs(study, cell, limit):
    settings = study.settings
    data = study.store / "tumours" / "cases"
    if not data.exists():
        raise Refused("failed: the phantoms are not there")
    return train(study, cell, study.experiment, limit, *study.keys(
        f"data.root={data}", "data.layout=brats", f"preprocess.resolution={settings.epoch_cube}", "training.precision=bf16",
        "training.epochs=3", "training.early_stop=0", *cell.keys))


def train(study, cell, experiment, limit, *keys):
    """Trains and returns figures of all epochs but the first, which also compiles kernels."""
    out = study.store / "runs" / re.sub(r"\W+", "_", f"{cell.kind} {cell.name}")
    shutil.rmtree(out, ignore_errors=True)  # remains of a stopped attempt
    try:
        study.voxswap("train", experiment, "--out", out, "--quiet", "training.log=[csv, jsonl]", *keys, limit=limit)
        return epoch_figures(out)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def epoch_figures(out):
    rows = read_rows(out / "epochs.csv")
    steps = {}
    for line in (out / "log.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["what"] == "step":
            steps.setdefault(int(entry["epoch"]), []).append(float(entry["seconds"]))
    counted = [row for row in rows if row["epoch"] != "1"] or rows
    return {"epoch_seconds": statistics.median(float(row["seconds"]) for row in counted),
            "wait_seconds": statistics.median(float(row["wait_seconds"]) for row in counted),
            "stall_seconds": statistics.median(float(row["stall_seconds"]) for row in counted),
            "step_seconds": statistics.median(seconds for row in counted for seconds in steps[int(row["epoch"])]),
            "device_busy": statistics.median(float(row["device_busy"]) for row in counted),
            "peak_gib": float(rows[-1]["device_peak_bytes"]) / GIB, "precision": "bf16",
            "note": f"{len(rows)} epochs of {len(steps[int(rows[-1]['epoch'])])} steps, training loss {rows[0]['train_loss']} to {rows[-1]['train_loss']}"}


# Only our own convolutions: racecheck reports those of cuDNN, which copy to shared memory asynchronously.
OWN_KERNELS = {"memcheck": "*__cuda_bf16:-*conv3d*", "initcheck": "*__cuda_bf16:-*conv3d*",
               "racecheck": "*_sum*__cuda_bf16:*statistics*__cuda_bf16:*norm_activation*__cuda_bf16:*several_tiles__batch*__cuda_bf16:-*conv3d_sum*"}
SHARDS = 12


def sanitizer(study, cell, limit):
    """Runs the shards of the conformance suite in turn until the time is over."""
    program = study.settings.tool("compute-sanitizer")
    if program is None:
        raise Refused("skipped: compute-sanitizer is not installed")
    end, done, cases = time.monotonic() + limit, 0, 0
    for shard in range(SHARDS):
        left = end - time.monotonic()
        if left < 2:
            break
        try:
            said, _ = output_of([program, "--tool", cell.name, "--error-exitcode", "9", "--print-limit", "10",
                                 study.settings.program("test_conformance"), f"--gtest_filter={OWN_KERNELS[cell.name]}", "--gtest_brief=1"],
                                left, {"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(shard)})
        except Refused as why:
            if str(why).startswith("stopped") and done:
                break
            raise
        if re.search(r"device not supported|not supported on|unable to find|internal sanitizer error", said, re.I):
            raise Refused("skipped: compute-sanitizer does not work here")
        done += 1
        cases += sum(int(count) for count in re.findall(r"\[==========\] (\d+) tests? from", said))
    return {"note": f"nothing found in {cases} cases, {done} of {SHARDS} shares of our own kernels"}


def same_bits(study, cell, limit):
    settings = study.settings
    steps = settings.sizes().bits_steps
    said, _ = output_of([settings.program("same_bits"), *settings.network(), "--beside-copies", cell.side, "bf16", steps, study.store, "cuda"],
                        limit)
    return {"note": f"the same losses and weights in {len(list(csv.DictReader(said.splitlines())))} trainings of {steps} steps"}


def ranks(study, cell, limit):
    """Trains with 2 ranks on one GPU; NCCL needs a different host name for each (docs/explanation/ranks.md)."""
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        raise Refused("skipped: there is no mpirun")
    end = time.monotonic() + limit
    settings = study.settings
    data = make_phantoms(study, "ranks", limit, "--cases", settings.rank_cases, "--size", 24 if settings.emulated else 64)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []

    def run(name, *keys):
        out = study.store / "runs" / name
        shutil.rmtree(out, ignore_errors=True)
        words = study.keys(f"data.root={data}", "data.layout=brats", f"preprocess.resolution={settings.run_cube}", "training.precision=bf16",
                           f"training.epochs={settings.rank_epochs}", "training.early_stop=0", "ranks.slabs=2", "memory.slabs=8", *keys)
        output_of([mpirun, "-n", "2", "--bind-to", "none", "--oversubscribe", *root, "-x", "NCCL_SOCKET_IFNAME=lo", "sh", "-c",
                   'NCCL_HOSTID=$OMPI_COMM_WORLD_RANK exec "$@"', "sh", settings.program("voxswap"), "train", study.experiment, "--out", out,
                   "--quiet", *words], end - time.monotonic())
        return out

    def results(out):
        losses = [(row["train_loss"], row["validation_loss"]) for row in read_rows(out / "epochs.csv")]
        return losses, read_rows(out / "epochs.csv")[-1]

    everything, keep = results(run("ranks_keep", "memory.planner=keep"))
    peak = int(keep["device_peak_bytes"])
    # This planner depends only on sizes, not on measured costs, and always swaps.
    swapped, last = results(run("ranks_swapping", "memory.planner=lms-threshold", f"memory.lms_threshold={settings.rank_threshold}",
                                f"memory.host={settings.host_gib}GiB"))
    shutil.rmtree(study.store / "runs", ignore_errors=True)
    if everything != swapped:
        raise Refused(f"failed: the losses differ: {everything} {swapped}")
    if int(last["swapped_out_bytes"]) == 0:
        raise Refused("failed: nothing was swapped")
    return {"peak_gib": int(last["device_peak_bytes"]) / GIB, "out_gb": int(last["swapped_out_bytes"]) / 1e9,
            "recomputed_nodes": last["recomputed_nodes"],
            "note": f"the losses of an arena of {peak / GIB:.3g} GiB: {everything[-1][0]}, {everything[-1][1]}"}


def pytorch(study, cell, limit):
    """Reuses an earlier row with the same GPU and PyTorch version."""
    network, batch, mode = cell.keys
    version = pytorch_version(limit)
    for row in reversed(measured_rows()):
        if (row["item"], row["cell"]) == ("pytorch", cell.name) and version in row["note"] and is_done(row) and \
                device_kind(row["device"]) == device_kind(study.settings.about["device"]):
            return {"program": "PyTorch", "status": f"earlier: {row['date']}", "step_seconds": row["step_seconds"], "peak_gib": row["peak_gib"],
                    "note": version}
    said, _ = output_of([sys.executable, ROOT / "bench/pytorch_training_step.py", cell.side, "bf16", study.settings.study_steps, "contiguous",
                         "--device", study.settings.pytorch_device(), "--mode", mode, "--network", network, "--batch", batch], limit,
                        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    found = json.loads(said.strip().splitlines()[-1])
    return {"program": "PyTorch", "step_seconds": found["seconds"], "peak_gib": found["peak_bytes"] / GIB, "note": found["version"]}


MEASURES = {"limits": limits, "bench": bench, "hippocampus": hippocampus, "phantoms": phantoms, "epochs": epochs, "sanitizer": sanitizer,
            "same_bits": same_bits, "ranks": ranks, "pytorch": pytorch}


def main():
    settings = Settings.load(sys.argv[1])
    study = Study(settings)
    item = next(item for item in items(settings.sizes()) if item.name == sys.argv[2])
    end = time.monotonic() + float(os.environ["GPU_CHECK_SECONDS"]) - 1
    before = study.rows()
    wanted = [cell for cell in item.cells if settings.only is None or f"{item.name}: {cell.name}" in settings.only]
    missing = [cell for cell in wanted if not is_done(before.get(f"{item.name}: {cell.name}", {"status": ""}))]
    for cell in sorted(missing, key=lambda cell: f"{item.name}: {cell.name}" in before):  # stable sort: cells that failed before come last
        left = end - time.monotonic()
        if left < 1:
            break
        study.measure(item, cell, min(cell.limit * settings.patience, left))
    rows = study.rows()
    found = {cell.name: rows.get(f"{item.name}: {cell.name}", {"status": "no time left"})["status"] for cell in wanted}
    done = [name for name, status in found.items() if is_done({"status": status})]
    print(f"result: {len(done)} of {len(found)} rows" + "".join(f"; {name}: {status}" for name, status in found.items() if name not in done))
    if len(done) == len(found):
        sys.exit(0)
    others = [status for name, status in found.items() if name not in done]
    sys.exit(NOT_HERE if all(status.startswith("skipped") for status in others) else 1)


if __name__ == "__main__":
    main()
