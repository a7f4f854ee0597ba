"""A tiny experiment, the program as a process, and the conditions that hold after any disturbance."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from whole import files_not_whole, results

PROMISED = {0, 1, 2, 3, 4, 130}
LIMIT_SECONDS = 120  # far more than any command here takes on an idle machine

EXPERIMENT = """name: tiny
data: {{root: {data}, modalities: [flair, t1ce], cache: cache}}
preprocess: {{resolution: 8}}
network: {{base_filters: 2, depth: 2}}
training: {{epochs: 2, seed: 5, checkpoint_minutes: 0.00001}}
memory: {{planner: keep, budget: 64MiB}}
"""


class Outcome:
    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.stdout, self.stderr, self.seconds = code, stdout, stderr, seconds

    def errors(self):
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]

    def complaints(self, promised=PROMISED, killed=False, tables=False):
        """Returns violations of the rules for exits. `killed`: it was sent an uncatchable signal; `tables`: it may
        report findings in a table instead of a message."""
        if self.code is None:
            return ["does not end"]
        if self.code < 0:
            return [] if killed else [f"died of signal {-self.code}: {self.stderr[-300:]!r}"]
        found = []
        if self.code not in promised:
            found.append(f"exit code {self.code} is none of {sorted(promised)}: {self.stderr[-300:]!r}")
        one_message = len(self.errors()) == 1 or (tables and self.code in (3, 4) and self.stdout)
        if self.code in (1, 2, 3, 4) and not one_message:
            found.append(f"exit code {self.code} with {len(self.errors())} messages: {self.stderr[-300:]!r}")
        if self.code == 0 and self.errors():
            found.append(f"exit code 0 and {self.errors()[0]!r}")
        obeyed = sorted({c for c in self.stdout + self.stderr if c not in "\n\t" and (ord(c) < 32 or 127 <= ord(c) < 160)})
        if obeyed or "\ufffd" in self.stdout + self.stderr:
            found.append(f"prints {obeyed}, which a terminal obeys, or what is not UTF-8")
        return found


class Workbench:
    """Shared starting point of all trials, created once: a data set, a run and its results."""

    def __init__(self, build, scratch=None):
        self.program = str(Path(build, "bin", "voxswap").resolve())
        self.reader = str(Path(build, "bin", "read_files").resolve())
        self.library = str(Path(build, "bin", "libvoxswap_faults.so").resolve())
        missing = [path for path in (self.program, self.reader, self.library) if not Path(path).is_file()]
        if missing:
            sys.exit(f"{', '.join(missing)} missing: build everything first, or name the folder with --build")
        self.folder = Path(tempfile.mkdtemp(prefix="voxswap_campaign_", dir=scratch))
        self.counter, self.lock, self.made = 0, threading.RLock(), {}
        self.base = self.folder / "base"
        self.base.mkdir()
        self.data = self.base / "data"
        self.must("phantom", "--out", str(self.data), "--cases", "4", "--size", "16", "--seed", "3")
        (self.base / "experiment.yaml").write_text(EXPERIMENT.format(data=self.data))
        self.must("run", "experiment.yaml", "--out", "run")
        self.must("sweep", "experiment.yaml", "training.seed=5,6", "--out", "sweep")
        self.must("predict", "run", "--input", str(self.data), "--out", "maps")
        self.must("evaluate", "--truth", "maps", "--prediction", "maps", "--out", "scores.csv", "--regions", "whole=1,2,4")
        self.must("phantom", "--out", "bids", "--cases", "1", "--size", "16", "--layout", "bids")
        self.must("bids", "bids", "cache/derivative", "participant", "--run", "run")  # every trial copies cache/
        self.must("export", "run", "--to", "pytorch", "--out", "weights.safetensors")
        self.must("export", "run", "--to", "model", "--out", "network.model")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def must(self, *arguments):
        outcome = self.call(list(arguments), self.base)
        if outcome.code != 0:
            raise RuntimeError(f"{arguments}: exit code {outcome.code}: {outcome.stderr}")

    def trial_folder(self):
        """Creates a folder with the experiment and a copy of the cache of costs and prepared cases."""
        with self.lock:
            self.counter += 1
            folder = self.folder / f"trial{self.counter}"
        folder.mkdir()
        shutil.copy(self.base / "experiment.yaml", folder)
        shutil.copytree(self.base / "cache", folder / "cache")
        return folder

    def environment(self, more=None):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "1"}
        environment.update(more or {})
        return {key: value for key, value in environment.items() if value is not None}

    def start(self, arguments, folder, environment=None, launcher=(), **streams):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen([*launcher, self.program, *arguments], cwd=folder, env=self.environment(environment),
                                errors="replace", **streams)

    def finish(self, process, began, seconds=LIMIT_SECONDS):
        try:
            stdout, stderr = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            stdout, stderr = process.communicate()
            code = None
        return Outcome(code, stdout or "", stderr or "", time.monotonic() - began)

    def call(self, arguments, folder, environment=None, seconds=LIMIT_SECONDS, **streams):
        began = time.monotonic()
        return self.finish(self.start(arguments, folder, environment, **streams), began, seconds)

    # --- commands ---------------------------------------------------------------------------------------------

    def commands(self):
        """Returns for every command: (its arguments in a trial's folder, arguments to add when it is repeated)."""
        data, run = str(self.data), str(self.base / "run")
        return {
            "run": (["run", "experiment.yaml", "--out", "out"], ["--resume"]),
            "train": (["train", "experiment.yaml", "--out", "out"], ["--resume"]),
            "sweep": (["sweep", "experiment.yaml", "training.seed=5,6", "--out", "out"], []),
            "predict": (["predict", run, "--input", data, "--out", "out"], []),
            "evaluate": (["evaluate", "--truth", str(self.base / "maps"), "--prediction", str(self.base / "maps"), "--out",
                          "out.csv", "--regions", "whole=1,2,4"], []),
            "report": (["report", run, "--out", "out"], []),
            "phantom": (["phantom", "--out", "out", "--cases", "4", "--size", "16", "--seed", "3"], []),
            "check": (["check", data], []),
            "preview": (["preview", "experiment.yaml", "--out", "out.png"], []),
            "plan": (["plan", "experiment.yaml", "--out", "out"], []),
            "bench": (["bench", "experiment.yaml", "--out", "out", "--steps", "1", "--trace"], []),
            "configure": (["configure", data, "--out", "out.yaml", "--page", "out.html", "--estimate", "--hours", "0.01"], []),
            "convert": (["convert", data, "--out", "out"], []),
            "quickstart": (["quickstart", "out", "--minutes", "0.1"], []),
            "export": (["export", run, "--out", "out.onnx"], []),
            "export pytorch": (["export", run, "--to", "pytorch", "--out", "out.safetensors"], []),
            "export monai": (["export", run, "--to", "monai", "--out", "out"], []),
            "export model": (["export", run, "--to", "model", "--out", "out.model"], []),
            "models": (["models", "--install", str(self.base / "network.model"), "--name", "out", "--models", "."], []),
            "import": (["import", str(self.base / "weights.safetensors"), "--run", run, "--out", "out"], []),
            "bids": (["bids", str(self.base / "bids"), "out", "participant", "--run", run], []),
            "bids group": (["bids", str(self.base / "bids"), "cache/derivative", "group"], []),
        }

    def names(self):
        """Returns the commands that the program's help lists."""
        listed = self.call(["--help"], self.base).stdout.partition("COMMAND [ARGUMENTS]\n\n")[2].partition("\n\n")[0]
        return {line.split()[0] for line in listed.splitlines()}

    def once(self, name, make):
        """Returns the cached result of make(), calling it on first use."""
        with self.lock:
            if name not in self.made:
                self.made[name] = make()
            return self.made[name]

    def expected(self, command):
        """Returns seconds, results and output of the command when nothing disturbs it."""
        def undisturbed():
            folder = self.trial_folder()
            outcome = self.call(self.commands()[command][0], folder)
            if outcome.code != 0:
                raise RuntimeError(f"{command}: exit code {outcome.code}: {outcome.stderr}")
            return outcome.seconds, results(folder), outcome.stdout
        return self.once(command, undisturbed)

    def repeated(self, command):
        first, more = self.commands()[command]
        return first + more

    def finished(self, command, folder, environment=None):
        """Runs a disturbed command again to its end; returns complaints."""
        outcome = self.call(self.repeated(command), folder, environment)
        if outcome.code != 0:
            return [f"cannot be taken up again: exit code {outcome.code}: {outcome.stderr[-300:]!r}"]
        return self.differences(command, folder, outcome.stdout) + leftovers(folder)

    def differences(self, command, folder, stdout):
        _, wanted, printed = self.expected(command)
        found = results(folder)
        different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        complaints = [f"other results than undisturbed: {', '.join(different)}"] if different else []
        if command == "check" and stdout != printed:
            complaints.append("prints something else than undisturbed")
        return complaints


def leftovers(folder):
    return [f"left behind: {path.relative_to(folder)}" for path in Path(folder).rglob(".voxswap-*")]


def whole(folder):
    return [f"not whole: {problem}" for problem in files_not_whole(folder)]
