#!/usr/bin/env python3
"""Compares training steps of voxswap and PyTorch on the same GPU in one run: isensee2017, 4 channels, batch 1, bf16.

    bench/compare_gpu.py [--program build/release/bin/voxswap] [--out DIR] [--seconds 400] [--parts PART...] [--sides SIDE...]

Writes DIR/limits.csv and DIR/steps.csv, a row as soon as it is measured. Parts, in the order in which they are run:
  limits    what the GPU reaches at most (gpu_limits.py)
  steps     step time and peak memory without a limit: voxswap (any engines, deterministic ones, and those without
            CUDA graphs, "one by one"), PyTorch eager
  compile   PyTorch with torch.compile, without a limit
  swapping  the same within --budget-gib: voxswap's planner hybrid (the smallest cube also one by one), PyTorch's
            save_on_cpu and checkpoint
  largest   the largest cube that trains in 16 and in 32 GiB

PyTorch runs in both memory layouts at every size. Every program runs in its own process with a time limit; running out
of memory or time is recorded in the row's status. Peak memory is voxswap's arena (all device memory of its steps) and
PyTorch's max_memory_allocated; both exclude the CUDA context and cuDNN's memory. --device cpu only tests the script.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GIB = 1 << 30
PARTS = ["limits", "steps", "compile", "swapping", "largest"]
ONE_BY_ONE = {"VOXSWAP_GRAPHS": "0"}
LAYOUTS = ["contiguous", "channels_last"]  # the faster one depends on the cube: instance norm prefers the first
STEP_COLUMNS = ["date", "part", "program", "mode", "side", "limit_gib", "status", "step_seconds", "peak_gib", "reserved_gib",
                "host_gib", "out_gb", "in_gb", "recomputed_nodes", "predicted_seconds", "bound_seconds", "compute_seconds",
                "stall_seconds", "tflops", "gbps", "arithmetic_limit_seconds", "traffic_limit_seconds", "share_of_limit",
                "wall_seconds", "version", "device"]

EXPERIMENT = """name: bench
data: {root: nowhere, modalities: [t1, t1ce, t2, flair], labels: {necrosis: 1, oedema: 2, enhancing: 4}}
"""


def run(command, limit, env=None):
    """Returns (status, lines of standard output, seconds). The status is ok, or the reason for a failure."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **(env or {})})
    try:
        out, err = process.communicate(timeout=max(limit, 1))
        status = "ok"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # torch.compile starts processes of its own
        status = f"stopped after {limit:.0f} s"
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:  # blocked in the driver
            return status + " and does not end", [], time.monotonic() - start
    if status == "ok" and process.returncode != 0:
        last = (err.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        status = ("does not fit: " if process.returncode == 4 else f"failed ({process.returncode}): ") + last[:200]
    return status, out.strip().splitlines(), time.monotonic() - start


def json_lines(lines):
    results = []
    for line in lines:
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # a warning, or half a line of a killed process
    return results


class Comparison:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.limits = {}
        self.peer = run([options.python, "-c", "import torch"], 60)[0] == "ok"
        self.rows = []
        self.scratch = tempfile.TemporaryDirectory(prefix="compare_gpu_")
        self.experiment = pathlib.Path(self.scratch.name) / "bench.yaml"
        self.experiment.write_text(EXPERIMENT)
        if not (options.append and (self.out / "steps.csv").exists()):
            with open(self.out / "steps.csv", "w", newline="") as file:
                csv.DictWriter(file, STEP_COLUMNS, lineterminator="\n").writeheader()

    def left(self):
        return self.end - time.monotonic()

    def add(self, **row):
        row["date"] = datetime.date.today().isoformat()
        self.rows.append(row)
        with open(self.out / "steps.csv", "a", newline="") as file:
            csv.DictWriter(file, STEP_COLUMNS, lineterminator="\n").writerow(
                {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()})
        time_text = f"{row['step_seconds']:9.4f} s {row['peak_gib']:7.2f} GiB" if row["status"] == "ok" else row["status"]
        limit = f" in {row['limit_gib']:g} GiB" if row.get("limit_gib") else ""
        print(f"{row['part']:9} {row['side']:4}^3{limit:11} {row['program']:8} {row['mode']:24} {time_text}", flush=True)

    def measure_limits(self):
        if not self.peer:
            print("limits: python3 has no PyTorch here", flush=True)
            return
        status, lines, _ = run([self.options.python, str(HERE / "gpu_limits.py"), "--device", self.options.device],
                               min(90, self.left()))
        found = json_lines(lines)
        if status != "ok" or not found:
            print(f"limits: {status}", flush=True)
            return
        self.limits = found[-1]
        with open(self.out / "limits.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["date", *self.limits])
            writer.writerow([datetime.date.today().isoformat(), *self.limits.values()])
        print("limits    " + ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in self.limits.items()), flush=True)

    # --- voxswap

    def command(self, verb, side, planner, deterministic, gib, more):
        keys = [f"preprocess.resolution={side}", "training.precision=bf16", f"training.deterministic={str(deterministic).lower()}",
                f"memory.device={self.options.device}", f"memory.planner={planner}", f"data.cache={self.scratch.name}", *self.options.keys]
        keys += [f"memory.budget={gib:g}GiB", f"memory.host={self.options.host_gib}GiB"] if gib else []
        return [self.options.program, verb, str(self.experiment), *more, *keys, "--json", "--quiet"]

    def voxswap(self, part, side, mode, planner, deterministic, gib, limit, steps=None, env=None):
        row = {"part": part, "program": "voxswap", "mode": mode, "side": side, "limit_gib": gib}
        if self.left() < 5:
            return self.add(**row, status="no time left")
        more = ["--steps", str(steps or self.options.steps)]
        if self.options.traces and part == "swapping" and not env:
            more += ["--trace", "--out", str(pathlib.Path(self.options.traces) / f"{part}_{side}")]
        command = self.command("bench", side, planner, deterministic, gib, more)
        status, lines, wall = run(command, min(limit, self.left()), env)
        row.update(status=status, wall_seconds=wall)
        if status == "ok":
            b = json.loads("\n".join(lines))
            seconds = b["step_seconds_median"]
            row.update(step_seconds=seconds, peak_gib=b["arena_bytes"] / GIB, host_gib=b["host_bytes"] / GIB,
                       out_gb=b["swapped_out_bytes"] / 1e9, in_gb=b["swapped_in_bytes"] / 1e9,
                       recomputed_nodes=b["recomputed_nodes"], predicted_seconds=b["predicted_step_seconds"],
                       bound_seconds=b["bound_step_seconds"], compute_seconds=b["compute_seconds"], stall_seconds=b["stall_seconds"],
                       tflops=b["step_flops"] / seconds / 1e12, gbps=b["step_bytes"] / seconds / 1e9, device=b["device"])
            if self.limits:
                arithmetic = b["step_flops"] / self.limits["matrix_tflops"] / 1e12
                traffic = b["step_bytes"] / self.limits["memory_gbps"] / 1e9
                row.update(arithmetic_limit_seconds=arithmetic, traffic_limit_seconds=traffic,
                           share_of_limit=max(arithmetic, traffic) / seconds)
        self.add(**row)
        return row

    def largest_of_voxswap(self, gib):
        status, lines, _ = run(self.command("plan", 128, "hybrid", True, gib, ["--max-resolution"]), min(120, self.left()))
        try:
            side = int(str(json.loads("\n".join(lines))[0]["largest"]).split("x")[0]) if status == "ok" else 0
        except (ValueError, KeyError, IndexError, TypeError) as error:
            status, side = f"failed: {error!r}", 0
        if not side:
            return self.add(part="largest", program="voxswap", mode="hybrid", side=0, limit_gib=gib, status=status)
        # Also train with the plan. If steps take minutes, train a smaller cube: it proves as much.
        self.voxswap("largest", min(side, self.options.most), "hybrid", "hybrid", True, gib, 150, steps=1)

    # --- PyTorch

    def pytorch(self, part, sides, mode, gib, limit, layout="channels_last", largest_to=None):
        name = f"{mode}, {layout}"
        row = {"part": part, "program": "PyTorch", "mode": name, "limit_gib": gib}
        if not self.peer:
            return self.add(**row, side=sides[0], status="python3 has no PyTorch here")
        if self.left() < 10:
            return self.add(**row, side=sides[0], status="no time left")
        command = [self.options.python, str(HERE / "pytorch_training_step.py"), str(sides[0]), "bf16",
                   "1" if part == "largest" else str(self.options.steps), layout, "--device", self.options.device, "--mode", mode]
        command += ["--limit", str(int(gib * GIB))] if gib else []
        command += ["--largest-to", str(largest_to)] if largest_to else (["--more", *map(str, sides[1:])] if sides[1:] else [])
        # Otherwise fragmentation would affect the limit.
        status, lines, wall = run(command, min(limit, self.left()), {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
        found = json_lines(lines)
        if largest_to:
            found = sorted(found, key=lambda r: r["side"])[-1:]
            if status != "ok":
                row["mode"] += " (search stopped)"  # larger cubes may train, too
        for r in found:
            self.add(**row, side=r["side"], status="ok", step_seconds=r["seconds"], peak_gib=r["peak_bytes"] / GIB,
                     reserved_gib=r["reserved_bytes"] / GIB, wall_seconds=wall, version=r["version"], device=r["device"])
        missing = [side for side in sides if side not in [r["side"] for r in found]]
        if missing and not largest_to or not found:
            why = status if status != "ok" else "does not fit"
            self.add(**row, side=missing[0], status=why, wall_seconds=wall)

    # --- parts

    def steps(self):
        for side in self.options.sides:
            self.voxswap("steps", side, "keep", "keep", False, None, 90)
            self.voxswap("steps", side, "keep, deterministic", "keep", True, None, 90)
            self.voxswap("steps", side, "keep, deterministic, one by one", "keep", True, None, 90, env=ONE_BY_ONE)
        for layout in LAYOUTS:
            self.pytorch("steps", self.options.sides, "eager", None, 90, layout=layout)

    def compile(self):
        for layout in LAYOUTS:
            self.pytorch("compile", self.options.sides, "compile", None, 180, layout=layout)

    def swapping(self):
        for side in self.options.sides:
            self.voxswap("swapping", side, "hybrid", "hybrid", True, self.options.budget_gib, 90)
        for mode in ["save_on_cpu", "checkpoint"]:
            self.pytorch("swapping", self.options.sides, mode, self.options.budget_gib, 60, layout="contiguous")
        self.voxswap("swapping", self.options.sides[0], "hybrid, one by one", "hybrid", True, self.options.budget_gib, 90, env=ONE_BY_ONE)

    def largest(self):
        for gib in self.options.largest_gib:
            self.largest_of_voxswap(gib)
            for mode in ["eager", "checkpoint", "save_on_cpu"]:
                # save_on_cpu has no limit on host memory and uses all that is free.
                most = min(self.options.most, self.options.most_on_cpu) if mode == "save_on_cpu" else self.options.most
                self.pytorch("largest", [min(128, self.options.sides[0])], mode, gib, 60, largest_to=most)

    def summary(self):
        """Prints voxswap's result relative to PyTorch's best, per part, cube and limit."""
        done = [r for r in self.rows if r["status"] == "ok" and r["part"] != "largest"]
        for side, gib in sorted({(r["side"], r["limit_gib"] or 0) for r in done}):
            here = [r for r in done if r["side"] == side and (r["limit_gib"] or 0) == gib]
            ours = [r for r in here if r["program"] == "voxswap"]
            peers = [r for r in here if r["program"] == "PyTorch"]
            if ours and peers:
                best, peer = (min(rows, key=lambda r: r["step_seconds"]) for rows in (ours, peers))
                least = min(peers, key=lambda r: r["peak_gib"])
                print(f"{side}^3{f' in {gib:g} GiB' if gib else ''}: {peer['step_seconds'] / best['step_seconds']:.2f} times as fast as "
                      f"PyTorch's fastest ({peer['mode']}), {best['peak_gib'] / peer['peak_gib']:.2f} of its memory, "
                      f"{best['peak_gib'] / least['peak_gib']:.2f} of the least ({least['mode']})", flush=True)

    def all(self):
        if "limits" in self.options.parts:
            self.measure_limits()
        for part in PARTS[1:]:
            if part in self.options.parts:
                getattr(self, part)()
        self.summary()
        return any(r["program"] == "voxswap" and r["status"] == "ok" for r in self.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/voxswap"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", default="bench_gpu")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sides", type=int, nargs="+", default=[128, 192, 256, 320, 384], help="ascending multiples of 16")
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--append", action="store_true", help="go on with DIR/steps.csv")
    parser.add_argument("--traces", help="folder for plans and time lines of the steps of swapping")
    parser.add_argument("--keys", nargs="+", default=[], help="of the experiment, for voxswap alone: network.depth=3")
    parser.add_argument("--seconds", type=float, default=400, help="for all parts together")
    parser.add_argument("--budget-gib", type=float, default=16)
    parser.add_argument("--host-gib", type=int, default=64, help="host memory that voxswap may use under a limit")
    parser.add_argument("--largest-gib", type=float, nargs="+", default=[16, 32])
    parser.add_argument("--most", type=int, default=576, help="no larger cube is tried")
    parser.add_argument("--most-on-cpu", type=int, default=384, help="with save_on_cpu, which takes host memory without limit")
    sys.exit(0 if Comparison(parser.parse_args()).all() else 1)


if __name__ == "__main__":
    main()
