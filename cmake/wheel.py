#!/usr/bin/env python3
"""Packs the program, its library and the Python package with all dependencies into a wheel.

    cmake/wheel.py [--build build/release] [--as-built] FOLDER

The contents are those of cmake/bundle.sh; not packed: glibc, NVIDIA's libraries, MPI and gnuplot. The wheel needs
Linux with at least this machine's glibc version, and Python 3.9 or later.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METADATA = """Metadata-Version: 2.1
Name: voxswap
Version: {version}
Summary: Trains 3D U-Nets on whole brain MRI volumes larger than the device's memory
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: tables
Requires-Dist: pandas; extra == "tables"
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: voxswap
Root-Is-Purelib: false
Tag: {tag}
"""


def unpacked_bundle(build, scratch):
    archive = scratch / "bundle.tar.gz"
    subprocess.run([ROOT / "cmake" / "bundle.sh", "--library", "--build", build, archive], check=True)
    with tarfile.open(archive) as tar:
        tar.extractall(scratch)
    (folder,) = (path for path in scratch.iterdir() if path.is_dir())
    return folder


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def write_wheel(path, files):
    """Writes `files` (name -> contents and mode) to a wheel, followed by their RECORD."""
    record_name = next(name for name in files if name.endswith("/METADATA")).replace("METADATA", "RECORD")
    record = [f"{name},{digest(content)},{len(content)}" for name, (content, _) in files.items()]
    files[record_name] = ("\n".join([*record, f"{record_name},,", ""]).encode(), 0o644)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--as-built", action="store_true", help="do not bring the build up to date")
    given = parser.parse_args()
    version = re.search(r"project\(voxswap VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    glibc = platform.libc_ver()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{glibc}_{platform.machine()}"
    about = f"voxswap-{version}.dist-info"
    files = {}
    if not given.as_built:
        subprocess.run(["cmake", "--build", given.build, "--target", "voxswap", "voxswap_wheel"], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        bundle = unpacked_bundle(given.build.resolve(), Path(scratch))
        for path in sorted(bundle.rglob("*")):
            if path.is_file():
                files[f"voxswap/{path.relative_to(bundle)}"] = (path.read_bytes(), path.stat().st_mode & 0o777)
    for path in sorted((ROOT / "python" / "voxswap").iterdir()):
        if path.is_file():
            files[f"voxswap/{path.name}"] = (path.read_bytes(), 0o644)
    texts = {"METADATA": METADATA.format(version=version, readme=(ROOT / "README.md").read_text()),
             "WHEEL": WHEEL.format(tag=tag), "LICENSE": (ROOT / "LICENSE").read_text(),
             "entry_points.txt": "[console_scripts]\nvoxswap = voxswap.__main__:main\n"}
    for name, text in texts.items():
        files[f"{about}/{name}"] = (text.encode(), 0o644)
    given.folder.mkdir(parents=True, exist_ok=True)
    wheel = given.folder / f"voxswap-{version}-{tag}.whl"
    write_wheel(wheel, files)
    print(f"{wheel}: {os.path.getsize(wheel) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
