#!/usr/bin/env python3
"""Runs the readers of files under libFuzzer: each kind of file of the campaign's damaged inputs, for some minutes.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/campaign/fuzz.py --minutes 60 image checkpoint      # all kinds without names
    tests/campaign/fuzz.py --replay                           # reads what is kept, without libFuzzer: a test of the suite

Inputs start from complete files that the program wrote and from those of tests/fixtures/fuzz, each of which reached
different code. --keep adds the small ones that were found. An input that crashes a reader, or does not end in one of
the project's errors, is written to --found.
"""

import argparse
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import damage
from workbench import Workbench

CORPUS = Path(__file__).parents[1] / "fixtures" / "fuzz"
LARGEST_INPUT = 64 << 10  # bytes
LARGEST_KEPT = 4 << 10
ASAN = "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16"


def archive(kind):
    return CORPUS / (kind.replace(" ", "_") + ".zip")


def kept_inputs(kind):
    if not archive(kind).is_file():
        return {}
    with zipfile.ZipFile(archive(kind)) as kept:
        return {name: kept.read(name) for name in kept.namelist()}


class Fuzzer:
    """Runs libFuzzer on one kind of file, in its own folder."""

    def __init__(self, bench, program, source, found):
        self.kind, reader, self.content, name = source
        self.program, self.folder, self.found = program, bench.trial_folder(), found
        path = damage.place(bench, self.folder, "fuzzed", self.kind, self.content, name)
        self.environment = bench.environment({
            "FUZZ_KIND": reader, "FUZZ_PATH": str(path), "FUZZ_FILE": str(path / name if path.is_dir() else path),
            "ASAN_OPTIONS": ASAN, "UBSAN_OPTIONS": "halt_on_error=1"})
        self.corpus = self.new_folder("corpus", {"whole": self.content, **kept_inputs(self.kind)})

    def new_folder(self, name, files):
        folder = self.folder / name
        folder.mkdir()
        for file, content in files.items():
            (folder / file).write_bytes(content)
        return folder

    def call(self, *arguments):
        longest = max(LARGEST_INPUT, len(self.content))
        return subprocess.run([self.program, f"-max_len={longest}", "-timeout=60", "-rss_limit_mb=4096", *arguments],
                              env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace",
                              cwd=self.folder)

    def run(self, minutes):
        """Returns whether no failure was found, and libFuzzer's last line of statistics."""
        self.found.mkdir(parents=True, exist_ok=True)
        prefix = f"-artifact_prefix={self.found}/{self.kind.replace(' ', '_')}-"
        process = self.call(f"-max_total_time={round(60 * minutes)}", prefix, self.corpus)
        lines = process.stderr.splitlines()
        if process.returncode != 0:
            print("\n".join(lines[-60:]))
        return process.returncode == 0, next((line for line in reversed(lines) if " cov: " in line), "no input was read")

    def keep(self):
        """Archives the smallest set of small inputs that reaches the same code as all small inputs."""
        small = {file.name: file.read_bytes() for file in self.corpus.iterdir() if 0 < file.stat().st_size <= LARGEST_KEPT}
        fewest = self.new_folder("fewest", {})
        self.call("-merge=1", fewest, self.new_folder("small", small))
        CORPUS.mkdir(exist_ok=True)
        with zipfile.ZipFile(archive(self.kind), "w", zipfile.ZIP_DEFLATED) as kept:
            for file in sorted(fewest.iterdir()):
                kept.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)


def replay(bench, source):
    kind, reader, _, name = source
    folder, inputs = bench.trial_folder(), kept_inputs(kind)
    paths = [damage.place(bench, folder, index, kind, content, name) for index, content in enumerate(inputs.values())]
    lines, code = damage.read(bench, reader, paths)
    wrong = [f"{file}: {line[:300]!r}" for file, line in zip(inputs, lines) if damage.unlike_promised(line)]
    if len(lines) != len(paths):
        wrong.append(f"{list(inputs)[len(lines)]}: the process ended with {code}")
    for complaint in wrong:
        print(f"{archive(kind)}: {complaint}")
    return not wrong, f"{len(inputs)} inputs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="names or beginnings of names, such as 'image .nii'")
    parser.add_argument("--build", default="build/release", help="folder of the program that writes whole files")
    parser.add_argument("--fuzzer", default="build/fuzz/bin/fuzz_readers")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz/found"))
    parser.add_argument("--minutes", type=float, default=60, help="for each kind")
    parser.add_argument("--keep", action="store_true", help="add what was found to tests/fixtures/fuzz")
    parser.add_argument("--replay", action="store_true", help="read what is kept there with the program of --build")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.fuzzer)
    if not arguments.replay and not os.path.isfile(program):
        sys.exit(f"{program} is missing: build it first (cmake --preset fuzz && cmake --build --preset fuzz)")
    bench = Workbench(arguments.build)
    failed = 0
    try:
        for source in damage.sources(bench):
            if arguments.kinds and not any(source[0].startswith(wanted) for wanted in arguments.kinds):
                continue
            if arguments.replay:
                passed, figures = replay(bench, source)
            else:
                fuzzer = Fuzzer(bench, program, source, arguments.found.absolute())
                passed, figures = fuzzer.run(arguments.minutes)
                if passed and arguments.keep:
                    fuzzer.keep()
            print(f"{'ok    ' if passed else 'FAILED'} {source[0]}: {figures}", flush=True)
            failed += not passed
    finally:
        bench.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
