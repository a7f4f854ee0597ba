#!/usr/bin/env python3
"""The steps of tests/gpu_check that are more than one call of a program, each in its own process:

    steps.py SETTINGS device | ncu forward|weight_gradient|norm_gradient | sanitize memcheck|racecheck |
                      other_way KEY=VALUE | unified | whole_run

The summary shows the last line that begins with "result: ". Exit code 77: not applicable on this machine.
"""
import csv
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

from runner import NOT_HERE
from settings import Settings

STUDY = """name: gpu
data: {{root: phantom, layout: brats, cache: {scratch}/cache}}
preprocess: {{resolution: {cube}}}
network: {{depth: {depth}, base_filters: {filters}}}
training: {{epochs: {epochs}, optimizer: {{learning_rate: 2.0e-3}}, loss: dice_cross_entropy}}
memory: {{device: cuda, host: {host}GiB}}
"""


def skip(why):
    print(f"result: {why}", flush=True)
    sys.exit(NOT_HERE)


def fail(why):
    print(f"result: {why}", flush=True)
    sys.exit(1)


def shown(command, **more):
    """Runs a command with inherited output; returns its exit code."""
    print("$ " + " ".join(map(str, command)), flush=True)
    return subprocess.run([str(word) for word in command], check=False, **more).returncode


def output_of(command, **more):
    """Runs a command and prints its output; returns (exit code, output)."""
    print("$ " + " ".join(map(str, command)), flush=True)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


# --- the machine

def available_gib():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / (1 << 20)
    return 0


def libraries_opened(settings):
    """Returns the cuDNN and cuBLAS files that the program loads, as logged by the dynamic linker."""
    prefix = settings.scratch + "/linker"
    subprocess.run([settings.program("voxswap"), "info"], env={**os.environ, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": prefix},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    text = "".join(pathlib.Path(name).read_text(errors="replace") for name in glob.glob(prefix + ".*"))
    return sorted(set(re.findall(r"calling init: (\S*lib(?:cudnn|cublas)\S*)", text)))


def device(settings):
    if not settings.emulated:
        shown(["nvidia-smi"])
        shown(["nvidia-smi", "--query-gpu=name,memory.total,memory.free,clocks.max.sm,power.limit,pcie.link.gen.current,"
               "pcie.link.width.current", "--format=csv"])
    print(f"{os.cpu_count()} processors")
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/proc/sys/vm/overcommit_memory"):
        if os.path.exists(file):
            print(f"{file}: {open(file).read().strip()}")
    before = available_gib()
    touched = bytearray(2 << 30 if not settings.emulated else 1 << 20)
    touched[::4096] = b"\1" * len(touched[::4096])
    print(f"host memory available: {before:.1f} GiB, {available_gib():.1f} GiB while {len(touched) / (1 << 30):.1f} GiB are touched")
    del touched
    code, said = output_of([settings.program("voxswap"), "info"])
    for name in libraries_opened(settings):
        print("opened", name)
    found = [line for line in said.splitlines() if line.startswith("backend cuda ")]
    if code != 0 or not found:
        fail("voxswap info names no backend cuda")
    print("result: " + " ".join(found[0].split()))
    sys.exit(1 if re.match(r"backend cuda +none", found[0]) else 0)


# --- profilers and sanitizers

def tool(name):
    found = Settings.tool(name)
    if not found:
        skip(f"{name} is not installed")
    return found


PROFILED = {"forward": r"conv3d|conv3d_sum", "weight_gradient": r"conv3d_weight_gradient", "norm_gradient": r"norm_activation_gradient"}


def ncu(settings, which):
    """Profiles the slowest node of a kind in a small step with Nsight Compute."""
    program = tool("ncu")
    times = [settings.program("node_times"), *settings.network(), settings.nodes_side, "bf16", "1", "cuda"]
    _, table = output_of(times)
    rows = [re.split(r"  +", line.strip()) for line in table.split("node ", 1)[-1].splitlines()]
    nodes = [row[0] for row in rows if len(row) > 2 and re.fullmatch(PROFILED[which], row[1])]
    if not nodes:
        fail(f"no node of {PROFILED[which]} is in the table of node_times")
    name = re.sub(r"([/\[\]@,*\\])", r"\\\1", nodes[0])
    code, said = output_of([program, "--nvtx", "--nvtx-include", name + "/", "--set", "full", "--launch-count", "4", *times])
    if "ERR_NVGPUCTRPERM" in said:
        skip("this machine does not let programs read the GPU's counters")
    if code != 0 or "Duration" not in said:
        fail(f"ncu measured nothing of {nodes[0]} (exit code {code})")
    print(f"result: {nodes[0]}")


# Only our own convolutions: racecheck reports those of cuDNN, which copy to shared memory asynchronously.
SANITIZED = {"memcheck": ("*__cuda_bf16:-*conv3d*",),
             "racecheck": ("*_sum*__cuda_bf16:*statistics*__cuda_bf16:*norm_activation*__cuda_bf16:*several_tiles__batch*__cuda_bf16:-*conv3d_sum*",)}


def sanitize(settings, which):
    program = tool("compute-sanitizer")
    code, said = output_of([program, "--tool", which, "--error-exitcode", "9", "--print-limit", "10", settings.program("test_conformance"),
                            f"--gtest_filter={SANITIZED[which][0]}", "--gtest_brief=1"])
    broken = re.search(r"device not supported|not supported on|unable to find|internal sanitizer error|failed to", said, re.I)
    if broken and not re.search(r"ERROR SUMMARY: [1-9]", said):
        skip("compute-sanitizer does not work here")
    if code != 0:
        fail(f"{which} found something, or a test failed (exit code {code})")
    print(f"result: {which} found nothing")


# --- whole runs

class Study:
    """Phantoms and an experiment on them, created once for all steps."""

    def __init__(self, settings):
        self.settings = settings
        self.folder = pathlib.Path(settings.scratch)
        self.file = self.folder / "study.yaml"
        if self.file.exists():
            return
        size = "48" if not settings.emulated else "20"
        if shown([settings.program("voxswap"), "phantom", "--out", self.folder / "phantom", "--cases", settings.cases, "--size", size, "--seed",
                  "1", "--quiet"]) != 0:
            fail("the phantoms could not be made")
        host = 2 if not settings.emulated else 0.25
        self.file.write_text(STUDY.format(scratch=self.folder, cube=settings.run_cube, depth=min(settings.depth, 4), filters=settings.filters,
                                          epochs=settings.epochs, host=host))

    def run(self, name, *keys):
        """Runs the experiment unless it has results; returns the run folder. A failure ends the step."""
        out = self.folder / name
        if not (out / "dice.csv").exists():
            code = shown([self.settings.program("voxswap"), "run", self.file, "--out", out, "--quiet", *keys])
            if code != 0:
                fail(f"the run {name} ({' '.join(keys)}) ended with exit code {code}")
        return out

    def losses(self, name):
        rows = list(csv.DictReader(open(self.folder / name / "epochs.csv")))
        return [(row["epoch"], row["train_loss"], row["validation_loss"]) for row in rows]


def other_way(settings, keys):
    study = Study(settings)
    name = "way_" + re.sub(r"\W", "_", keys)
    study.run(name, "memory.planner=keep", *keys.split())
    losses = study.losses(name)
    if any("nan" in loss or "inf" in loss for row in losses for loss in row):
        fail(f"{keys}: a loss is no number: {losses}")
    print(f"result: {keys}: the loss goes from {losses[0][1]} to {losses[-1][1]}")


def unified(settings):
    study = Study(settings)
    study.run("keep", "training.precision=bf16", "memory.planner=keep")
    study.run("unified", "training.precision=bf16", "memory.planner=unified")
    if study.losses("keep") != study.losses("unified"):
        fail(f"the losses of unified differ: {study.losses('keep')} {study.losses('unified')}")
    print("result: the same losses as keep")


def least_budget(study):
    """Returns the smallest budget of the planner hybrid, parsed from its error for a budget of 64 KiB."""
    _, said = output_of([study.settings.program("voxswap"), "plan", study.file, "training.precision=bf16", "memory.planner=hybrid",
                         "memory.budget=64KiB"])
    found = re.search(r"needs at least [^(]*\((\d+) bytes\)", said)
    if not found:
        fail("voxswap plan does not say what the step needs at least")
    return int(found.group(1))


def whole_run(settings):
    """Trains from phantoms to scores. Keeping everything, half the memory and a repetition give identical results; f32
    gives losses close to the CPU's."""
    study = Study(settings)
    keep = study.run("keep", "training.precision=bf16", "memory.planner=keep")
    peak = int(re.search(r'"peak_bytes"\s*:\s*(\d+)', (keep / "plan.json").read_text()).group(1))
    least = least_budget(study)
    print(f"keep takes {peak} bytes, hybrid at least {least}")
    half = study.run("half", "training.precision=bf16", "memory.planner=hybrid", f"memory.budget={(peak + least) // 2}B")
    study.run("again", "training.precision=bf16", "memory.planner=keep")
    for other in ("half", "again"):
        if study.losses("keep") != study.losses(other):
            fail(f"the losses of keep and {other} differ: {study.losses('keep')} {study.losses(other)}")
    for file in sorted((keep / "predictions").iterdir()):
        if file.read_bytes() != (half / "predictions" / file.name).read_bytes():
            fail(f"the prediction {file.name} differs in less memory")
    shutil.copy(half / "epochs.csv", pathlib.Path(settings.out) / "c_run_epochs.csv")
    study.run("f32", "training.precision=f32")
    study.run("cpu", "training.precision=f32", "memory.device=cpu")
    pairs = list(zip(study.losses("f32"), study.losses("cpu")))
    worst = max(abs(float(a) - float(b)) for gpu, cpu in pairs for a, b in zip(gpu[1:], cpu[1:]))
    print(*pairs, sep="\n")
    if not worst < 0.02:
        fail(f"losses in f32 differ from those on the CPU by {worst:.2g}")
    print(f"result: the same bytes in half the memory and again; losses in f32 differ from those on the CPU by at most {worst:.2g}")


STEPS = {"device": device, "ncu": ncu, "sanitize": sanitize, "other_way": other_way, "unified": unified, "whole_run": whole_run}

if __name__ == "__main__":
    STEPS[sys.argv[2]](Settings.load(sys.argv[1]), *sys.argv[3:])
