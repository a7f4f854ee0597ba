#!/usr/bin/env python3
"""Runs the readers of files under libFuzzer: each kind of file of the campaign's damaged inputs, for some minutes.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/campaign/fuzz.py --minutes 60 image checkpoint      # all kinds without names

Inputs start from whole files that the program wrote; those that reached new code are kept in --corpus, and the next call
goes on from there. An input that crashes a reader, or ends in no error of the project, is written to --corpus/found.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import damage
from workbench import Workbench

LARGEST_INPUT = 64 << 10  # bytes


def fuzz(bench, fuzzer, kind, reader, content, name, corpus, minutes):
    """Returns whether nothing was found, and libFuzzer's last line of figures."""
    kept, found = corpus / kind.replace(" ", "_"), corpus / "found"
    for folder in (kept, found):
        folder.mkdir(parents=True, exist_ok=True)
    seeds = bench.trial_folder() / "seeds"
    seeds.mkdir()
    (seeds / "whole").write_bytes(content)
    path = damage.place(bench, bench.trial_folder(), "fuzzed", kind, content, name)
    environment = bench.environment({
        "FUZZ_KIND": reader, "FUZZ_PATH": str(path), "FUZZ_FILE": str(path / name if path.is_dir() else path),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16", "UBSAN_OPTIONS": "halt_on_error=1"})
    process = subprocess.run(
        [fuzzer, f"-max_total_time={round(60 * minutes)}", f"-max_len={max(LARGEST_INPUT, len(content))}", "-timeout=60", "-rss_limit_mb=4096",
         f"-artifact_prefix={found}/{kind.replace(' ', '_')}-", "-print_final_stats=1", kept, seeds],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace", cwd=bench.folder)
    lines = process.stderr.splitlines()
    coverage = [line for line in lines if " cov: " in line]
    if process.returncode != 0:
        print("\n".join(lines[-60:]))
    return process.returncode == 0, coverage[-1] if coverage else "no input was read"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="names or beginnings of names, such as 'image .nii'")
    parser.add_argument("--build", default="build/release", help="folder of the program that writes whole files")
    parser.add_argument("--fuzzer", default="build/fuzz/bin/fuzz_readers")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz/corpus"))
    parser.add_argument("--minutes", type=float, default=60, help="for each kind")
    arguments = parser.parse_args()
    fuzzer = os.path.abspath(arguments.fuzzer)
    if not os.path.isfile(fuzzer):
        sys.exit(f"{fuzzer} is missing: build it first (cmake --preset fuzz && cmake --build --preset fuzz)")
    bench = Workbench(arguments.build)
    failed = 0
    try:
        for kind, reader, content, name in damage.sources(bench):
            if arguments.kinds and not any(kind.startswith(wanted) for wanted in arguments.kinds):
                continue
            passed, figures = fuzz(bench, fuzzer, kind, reader, content, name, arguments.corpus.absolute(), arguments.minutes)
            print(f"{'ok    ' if passed else 'FAILED'} {kind}: {figures}", flush=True)
            failed += not passed
    finally:
        bench.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
