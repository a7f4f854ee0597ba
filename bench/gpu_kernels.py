#!/usr/bin/env python3
"""Lists what limits voxswap's own CUDA kernels, without a GPU: registers, shared memory, spills and occupancy.

    python3 bench/gpu_kernels.py --out kernels.csv          # needs nvcc and c++filt

Compiles the sources of net/backends/cuda with `ptxas -v`. Occupancy is the share of a multiprocessor's threads that
are resident, for blocks of the kernel's launch bounds or of 256 threads, with the limits of compute capability 9.0
(CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"). It leaves out shared memory that is
chosen at the launch.
"""
import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from rows import write_rows

SOURCE = Path(__file__).resolve().parents[1]
REGISTERS, SHARED, THREADS, BLOCKS = 65536, 228 << 10, 2048, 32  # of a multiprocessor
RESERVED_SHARED, WARP_REGISTERS = 1 << 10, 256                   # of a block; unit of allocation


def occupancy(registers, shared, threads):
    warps = -(-threads // 32)
    of_warp = -(-registers * 32 // WARP_REGISTERS) * WARP_REGISTERS
    blocks = min(BLOCKS, THREADS // (warps * 32), REGISTERS // (of_warp * warps), SHARED // (shared + RESERVED_SHARED))
    return blocks * warps * 32 / THREADS


def kernels(file, arch):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["nvcc", f"-I{SOURCE}/net/backends/cuda/ptx", f"-I{SOURCE}", f"-I{SOURCE}/include",
             "--expt-relaxed-constexpr", "-O3", f"--generate-code=arch=compute_{arch},code=[sm_{arch}]", "-std=c++20",
             "-Xptxas", "-v", "--keep", "--keep-dir", folder, "-c", str(file), "-o", f"{folder}/object.o"],
            capture_output=True, text=True, check=True)
        ptx = next(Path(folder).glob("*.ptx")).read_text()
    bounds = {name: int(threads) for name, threads in
              re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)", ptx)}
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers([^\n]*)",
                       done.stderr, re.S)
    names = subprocess.run(["c++filt"], input="\n".join(name for name, *_ in found), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for (symbol, spills, registers, rest), name in zip(found, names):
        shared = re.search(r"(\d+) bytes smem", rest)
        shared = int(shared[1]) if shared else 0
        threads = bounds.get(symbol, 256)
        name = re.sub(r"\(.*", "", name.replace("(anonymous namespace)::", "")).replace("voxswap::net::cuda::", "")
        yield {"source": file.name, "kernel": name.removeprefix("void "), "threads": threads, "registers": registers,
               "shared_bytes": shared, "spilled_bytes": spills,
               "occupancy": f"{occupancy(int(registers), shared, threads):.2f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="CSV file")
    parser.add_argument("--arch", default="90", help="compute capability without the dot")
    arguments = parser.parse_args()
    rows = [row for file in sorted((SOURCE / "net/backends/cuda").glob("*.cu")) for row in kernels(file, arguments.arch)]
    rows.sort(key=lambda row: (float(row["occupancy"]), row["kernel"]))
    write_rows(arguments.out, rows)
    print(f"{len(rows)} kernels; {sum(row['spilled_bytes'] != '0' for row in rows)} spill registers; "
          f"{sum(float(row['occupancy']) < 0.5 for row in rows)} have an occupancy below 0.5")


if __name__ == "__main__":
    main()
