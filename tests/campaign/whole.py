"""Checks that files are complete according to their formats, and extracts the content that must be reproducible."""

import csv
import gzip
import json
import struct
import xml.etree.ElementTree
import zlib
from pathlib import Path

# Columns with times, which differ between runs; all other columns must repeat.
TIMED = {"seconds", "megavoxels_per_second", "wait_seconds", "stall_seconds", "trained_seconds",
         "validation_seconds", "device_busy"}
# Files that describe the machine or the time instead of the result.
UNREPEATABLE = ("timing.csv", "memory.csv", "report.html", "log.txt", "outcome.json", "run.log", "plan.json", "arena.svg",
                "sweep.csv", "timeline.json", "experiment.yaml", "cell.yaml", "checksums.json",
                "last.previous.safetensors", "best.previous.safetensors")


def png(content):
    if content[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    position, packed, ended = 8, b"", False
    while position < len(content):
        size, kind = struct.unpack(">I4s", content[position:position + 8])
        body = content[position + 8:position + 8 + size]
        checksum, = struct.unpack(">I", content[position + 8 + size:position + 12 + size])
        if zlib.crc32(kind + body) != checksum:
            raise ValueError("a PNG whose checksum is wrong")
        packed += body if kind == b"IDAT" else b""
        ended = kind == b"IEND"
        position += 12 + size
    zlib.decompress(packed)
    if not ended:
        raise ValueError("a PNG without an end")


def nifti(content):
    voxels = gzip.decompress(content)
    dims = struct.unpack("<8h", voxels[40:56])
    bits, = struct.unpack("<h", voxels[72:74])
    offset, = struct.unpack("<f", voxels[108:112])
    count = 1
    for extent in dims[1:dims[0] + 1]:
        count *= extent
    if len(voxels) != offset + count * bits // 8:
        raise ValueError("a NIfTI file of another size than its header says")


def tensors(content):
    """Returns the tensor data of a safetensors file, without the metadata, which contains training times."""
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    end = max(entry["data_offsets"][1] for entry in header.values())
    if len(content) != 8 + size + end:
        raise ValueError("a safetensors file of another size than its header says")
    return content[8 + size:]


def table(content):
    if content.startswith(b"voxswap checksum "):  # cache files start with a checksum line
        content = content.partition(b"\n")[2]
    rows = list(csv.reader(content.decode().splitlines()))
    if not content.endswith(b"\n") or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("a table that ends early")
    return rows


def html(content):
    if not content.rstrip().endswith(b"</html>"):
        raise ValueError("a page without an end")


READERS = {".png": png, ".gz": nifti, ".safetensors": tensors, ".csv": table, ".json": json.loads,
           ".svg": xml.etree.ElementTree.fromstring, ".html": html}


def files_not_whole(folder):
    problems = []
    for path in sorted(Path(folder).rglob("*")):
        if ".voxswap-" in str(path) or not path.is_file():
            continue
        reader = READERS.get(path.suffix)
        try:
            if reader is not None:
                reader(path.read_bytes())
        except Exception as trouble:
            problems.append(f"{path.relative_to(folder)}: {trouble}")
    return problems


def repeatable(path):
    content = path.read_bytes()
    if path.suffix == ".safetensors":
        return tensors(content)
    if path.suffix == ".csv":
        rows = table(content)
        keep = [i for i, name in enumerate(rows[0]) if name not in TIMED and not name.endswith("_bytes")]
        return repr([[row[i] for i in keep] for row in rows]).encode()
    return content


def results(folder):
    """Returns hashes of all files below `folder` that must be the same however a command reached its end."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        plot = path.suffix in (".svg", ".png") and path.stem in ("epochs", "validation", "timing", "memory", "sweep")
        if path.is_file() and not hidden and not plot and path.name not in UNREPEATABLE and not name.startswith("cache"):
            found[name] = hash(repeatable(path))
    return found
