"""Runs the steps of a part of tests/gpu_check, each in its own process with its own time limit, even after failures, and
keeps their output.

A step's name is printed before it starts, so that a hang can be attributed. Output goes to a file, because a pipe could
fill. A step that exceeds its limit is killed with all its children, and abandoned if even that does not end it.
"""
import dataclasses
import io
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import tempfile
import time

NOT_HERE = 77  # exit code of a step that does not apply on this machine
PART_DONE = 3  # exit code of a step that ran out of time with partial results
LARGEST_FILE = 16 << 20
LARGEST_LOG = 512 << 10
SAID = re.compile(r"^result: |\[  PASSED  \]|\[  FAILED  \] \d|FAILED TEST")
COMPLAINT = re.compile(r"Failure|FAILED|rror|terminate")


@dataclasses.dataclass
class Step:
    name: str
    limit: float  # seconds
    command: list
    env: dict = dataclasses.field(default_factory=dict)
    optional: bool = False  # skipping it for lack of time is no failure
    keep_stdout: str = ""  # file in OUT for its standard output
    part: str = ""  # a, b or c: the verdict becomes a row of checks.csv


def descendants(process):
    """Returns the current descendants of a running process."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
    found = [process]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


class Running:
    def __init__(self, step, limit, log, stdout):
        self.step, self.limit, self.log = step, limit, log
        self.started = time.monotonic()
        self.left_behind = self.late = False
        with open(log, "wb") as errors, open(stdout, "wb") if stdout else open(log, "ab") as output:
            self.process = subprocess.Popen([str(word) for word in step.command], stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=errors, start_new_session=True,
                                            env={**os.environ, **step.env, "GPU_CHECK_SECONDS": f"{limit:.1f}"})

    def finish(self):
        try:
            self.process.wait(max(0.1, self.started + self.limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.late = True
        self.kill()

    def kill(self):
        """Kills the process and its descendants, including their sessions; also removes children of a finished step."""
        for group in [self.process.pid, *descendants(self.process.pid)]:
            try:
                os.killpg(group, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.left_behind = True

    def seconds(self):
        return time.monotonic() - self.started


class Runner:
    """Writes PART_summary.txt, PART_logs.tar.gz and the kept outputs of steps to `out`."""

    def __init__(self, part, out, seconds, patience):
        self.part, self.out, self.patience = part, pathlib.Path(out), patience
        self.end = time.monotonic() + seconds
        self.started = time.monotonic()
        self.failed = False
        self.verdicts = []
        self.out.mkdir(parents=True, exist_ok=True)
        self.temporary = tempfile.TemporaryDirectory(prefix="gpu_check_", ignore_cleanup_errors=True)
        self.scratch = pathlib.Path(self.temporary.name)
        self.logs = self.scratch / "logs"
        self.logs.mkdir()
        self.running = []
        self.limits = {}  # overrides of steps' own limits
        self.device = "unknown"  # as `voxswap info` describes it
        self.on_verdict = lambda step, verdict: None

    def left(self):
        return self.end - time.monotonic()

    def run(self, *steps):
        """Runs the steps concurrently."""
        begun = []
        for step in steps:
            limit = self.limits.get(step.name, step.limit * self.patience)
            print(f"== {step.name} (at most {limit:.0f} s, {max(self.left(), 0):.0f} s are left)", flush=True)
            limit = min(limit, self.left())
            if limit < 1:
                self.note(step, "not run: no time left", "" if step.optional else "FAILED")
                continue
            try:
                stdout = self.out / step.keep_stdout if step.keep_stdout else None
                self.running.append(Running(step, limit, self.logs / f"{step.name}.log", stdout))
                begun.append(self.running[-1])
            except OSError as error:
                self.note(step, f"could not be started: {error}", "FAILED")
        for running in begun:
            running.finish()
            self.running.remove(running)
            self.judge(running)

    def judge(self, running):
        code = running.process.returncode
        seconds = f"{running.seconds():.0f} s"
        said = self.last_words(running.log)
        if running.late:
            ending = "; it does not end even when it is killed" if running.left_behind else ""
            self.note(running.step, f"stopped after {seconds}{ending}{said}", "FAILED")
        elif code in (0, PART_DONE):
            self.note(running.step, f"{'passed' if code == 0 else 'done as far as there was time'} in {seconds}{said}")
        elif code == NOT_HERE:
            self.note(running.step, f"skipped{said}")
        elif code is not None and code < 0:
            self.note(running.step, f"killed by {signal.Signals(-code).name} after {seconds}{said}", "FAILED")
        else:
            self.note(running.step, f"exit code {code} after {seconds}{said}", "FAILED")
        if self.verdicts[-1].find("FAILED") >= 0:
            for line in self.complaints(running.log):
                print("    " + line, flush=True)

    def note(self, step, verdict, prefix=""):
        self.failed = self.failed or prefix == "FAILED"
        text = f"{prefix}: {verdict}" if prefix else verdict
        self.verdicts.append(f"{step.name:24} {text}")
        print(self.verdicts[-1], flush=True)
        self.on_verdict(step, text)
        self.write_summary()

    def write_summary(self, ending="NOT FINISHED"):
        text = "\n".join([*self.verdicts, f"{time.monotonic() - self.started:.0f} s in all", ending]) + "\n"
        (self.out / f"{self.part}_summary.txt").write_text(text)

    @staticmethod
    def lines_of(log):
        try:
            with open(log, "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - LARGEST_LOG))
                return file.read().decode(errors="replace").splitlines()
        except OSError:
            return []

    def last_words(self, log):
        said = [line for line in self.lines_of(log) if SAID.search(line)]
        return ": " + said[-1].removeprefix("result: ").strip() if said else ""

    def complaints(self, log):
        lines = self.lines_of(log)
        return ([line for line in lines if COMPLAINT.search(line)] or lines[-3:])[:12]

    def conclude(self):
        for running in list(self.running):
            running.kill()
        self.write_summary("A CHECK FAILED: the logs have its output" if self.failed else "ALL CHECKS PASSED")
        self.pack()
        print("\n== summary\n" + (self.out / f"{self.part}_summary.txt").read_text(), flush=True)
        return 1 if self.failed else 0

    def pack(self):
        """Packs long outputs into one archive: logs first, then the files in scratch/kept, each smallest first."""
        def size(path):
            return path.stat().st_size
        files = sorted(self.logs.iterdir(), key=size)
        kept = self.scratch / "kept"
        files += sorted((path for path in kept.rglob("*") if path.is_file()), key=size)
        target = self.out / f"{self.part}_logs.tar.gz"
        left_out = []
        with tarfile.open(target, "w:gz", compresslevel=6) as tar:
            for path in files:
                name = str(path.relative_to(self.scratch))
                content = self.shortened(path) if path.parent == self.logs else path.read_bytes()
                packed = target.stat().st_size + len(content) // 2  # text and numeric volumes compress better than this
                if packed > LARGEST_FILE - (1 << 20):
                    left_out.append(name)
                    continue
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
                tar.fileobj.flush()
        if left_out:
            with open(self.out / f"{self.part}_summary.txt", "a") as summary:
                summary.write("too large for the tar: " + ", ".join(left_out) + "\n")

    @staticmethod
    def shortened(path):
        content = path.read_bytes()
        if len(content) <= LARGEST_LOG:
            return content
        return content[:LARGEST_LOG // 4] + b"\n[...]\n" + content[-3 * LARGEST_LOG // 4:]
