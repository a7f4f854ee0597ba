"""Rows of GPU measurements and their sources; used by tests/gpu_check, bench/gpu/ledger and bench/gpu/read."""
import csv
import hashlib
import json
import os
import pathlib
import re
import subprocess

from measurements import COLUMNS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"
CHECK_COLUMNS = ["date", "commit", "kernels", "device", "part", "step", "verdict"]
DONE = ("ok", "does not fit", "earlier")  # a status with such a prefix completes the cell


def read_rows(path):
    """Reads a CSV file; ignores an incomplete last line, as a killed process may leave."""
    text = pathlib.Path(path).read_text(errors="replace") if pathlib.Path(path).exists() else ""
    return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()))


def append_row(path, columns, row):
    """Appends the row with one write and syncs it, so that it survives a kill."""
    path = pathlib.Path(path)
    text = path.read_bytes() if path.exists() else b""
    whole = text[:text.rfind(b"\n") + 1]
    if whole != text:  # incomplete last line
        path.write_bytes(whole)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if not whole:
            writer.writeheader()
        writer.writerow({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()})
        file.flush()
        os.fsync(file.fileno())


def key_of(row):
    return f"{row['item']}: {row['cell']}"


def is_done(row):
    return row["status"].startswith(DONE)


def sources(root=ROOT):
    """Returns columns of a row: the commit, and a digest of the sources that decide what a GPU computes. In a bundle
    they come from sources.json, which cmake/bundle.sh writes beside this file."""
    stored = root / "bench" / "gpu" / "sources.json"
    if stored.exists():
        return json.loads(stored.read_text())
    digest = hashlib.sha256()
    for path in sorted(path for path in (root / "net" / "backends" / "cuda").rglob("*") if path.is_file()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return {"commit": git(root, "describe", "--always", "--dirty", "--abbrev=8", "--match="), "kernels": digest.hexdigest()[:12]}


def git(root, *words):
    done = subprocess.run(["git", "-C", str(root), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip()


def device_kind(device):
    """Returns "h100" for "NVIDIA H100 80GB HBM3, compute capability 9.0, ..."."""
    name = re.split(r"[,;]", device)[0]
    words = [word for word in re.sub(r"(?i)nvidia|geforce|tesla", "", name).lower().split() if not word.endswith("gb") and not word.startswith("hbm")]
    return "_".join(re.sub(r"\W", "", word) for word in words) or "gpu"


def commit_of(path):
    """Returns the commit that added a file of bench/results, for files that do not name it."""
    return (git(ROOT, "log", "--diff-filter=A", "--format=%h", "--", str(path)).split() or [""])[-1]


def from_earlier_format(row):
    """Converts a row of compare_gpu.py (*_h100_steps*.csv until 2026-11-27) to one of a cell; None if it has none."""
    if row.get("part") not in ("steps", "compile") or row["status"] != "ok":
        return None
    if row["program"] == "voxswap" and row["mode"] == "keep, deterministic":
        cell = ("steps", f"isensee2017, {row['side']}^3, bf16")
    elif row["program"] == "PyTorch" and row["mode"] in ("eager, contiguous", "compile, contiguous"):
        cell = ("pytorch", f"isensee2017, {row['side']}^3, bf16, {row['mode'].split(',')[0]}")
    else:
        return None
    same = {name: row.get(name, "") for name in ("date", "device", "status", "program", "side", "step_seconds", "predicted_seconds",
                                                 "bound_seconds", "peak_gib")}
    return {**dict.fromkeys(COLUMNS, ""), **same, "item": cell[0], "cell": cell[1], "precision": "bf16", "note": row.get("version", "")}


def from_earlier_limits(row):
    """Converts a row of bench/results/*_h100_limits.csv of 2026-11-26."""
    return {**dict.fromkeys(COLUMNS, ""), "date": row["date"], "device": row["device"], "item": "limits", "cell": "limits", "status": "ok",
            "program": "PyTorch", "to_host_gbps": row["to_host_gbps"], "to_device_gbps": row["to_device_gbps"],
            "note": f"{float(row['matrix_tflops']):.0f} TFLOP/s in a bf16 product, {float(row['memory_gbps']):.0f} GB/s within the device"}


def markdown_table(header, rows):
    """Returns the lines of a table, ending with an empty one."""
    return [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *(f"| {' | '.join(row)} |" for row in rows), ""]


def is_of_a_card(row):
    return row.get("device", "") != "" and "emulated" not in row["device"]


def measured_rows(folder=RESULTS):
    """Returns all rows of cells in `folder`, the newest last."""
    rows = []
    for path in sorted(pathlib.Path(folder).glob("*.csv")):
        with open(path, newline="") as file:
            header = next(csv.reader(file), [])
        if header[:len(COLUMNS)] == COLUMNS:
            rows += [row for row in read_rows(path) if is_of_a_card(row)]
            continue
        found = []
        if {"part", "program", "mode", "limit_gib"} <= set(header):
            kept = [row for row in read_rows(path) if row["program"] == "PyTorch" or not path.stem.endswith("_before")]
            found = [row for row in map(from_earlier_format, kept) if row is not None and is_of_a_card(row)]
        elif {"matrix_tflops", "to_host_gbps"} <= set(header):
            found = [from_earlier_limits(row) for row in read_rows(path)]
        commit = commit_of(path) if found else ""
        rows += [{**row, "commit": commit} for row in found]
    return sorted(rows, key=lambda row: row["date"])


def check_rows(folder=RESULTS):
    """Returns the verdicts on the steps of gpu_check's parts a, b and c, the newest last."""
    rows = [row for path in sorted(pathlib.Path(folder).glob("*_checks.csv")) for row in read_rows(path) if is_of_a_card(row)]
    return sorted(rows, key=lambda row: row["date"])


def passed_with(digest, device, folder=RESULTS):
    """Returns the steps "PART: STEP" that passed on this kind of GPU with these sources."""
    last = {f"{row['part']}: {row['step']}": row for row in check_rows(folder)
            if row["kernels"] == digest and device_kind(row["device"]) == device_kind(device)}
    return {name: row for name, row in last.items() if row["verdict"].startswith("passed")}


if __name__ == "__main__":
    print(json.dumps(sources()))
