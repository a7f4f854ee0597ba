"""Runs every writing command on disks of a few to a few hundred KiB: existing files are complete, and on a larger disk
the same command then succeeds with the usual results."""

import os
import subprocess

from workbench import leftovers, whole

TITLE = "full disks"
COMMANDS = ["run", "run", "run", "train", "predict", "evaluate", "report", "phantom", "preview"]


def mount(folder, kibibytes, remount=False):
    options = f"size={kibibytes}k" + (",remount" if remount else "")
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "voxswap_campaign", folder], capture_output=True).returncode == 0


def unmount(folder):
    subprocess.run(["umount", "-l", folder], capture_output=True)


def possible(bench):
    folder = bench.folder / "mount"
    folder.mkdir(exist_ok=True)
    if os.geteuid() != 0 or not mount(folder, 64):
        return "a file system cannot be mounted here"
    unmount(folder)
    return None


def trial(bench, random):
    command = random.choice(COMMANDS)
    _, wanted, _ = bench.expected(command)
    folder = bench.trial_folder()
    most = {"run": 1200, "train": 400, "report": 900, "phantom": 600, "predict": 80}.get(command, 64)
    kibibytes = 4 * random.randint(1, most // 4)
    cache = folder / "cache"
    keep = {file.relative_to(folder): file.read_bytes() for file in cache.rglob("*") if file.is_file()} \
        if random.random() < 0.5 else {}
    if not mount(folder, kibibytes):
        return 0, "", [], folder
    try:
        complaints = []
        try:
            (folder / "experiment.yaml").write_bytes((bench.base / "experiment.yaml").read_bytes())
            for name, content in keep.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        except OSError:
            return 0, "", [], folder  # no room for the inputs of the command
        outcome = bench.call(bench.commands()[command][0], folder, {"TMPDIR": str(folder)})
        complaints = outcome.complaints(promised={0, 4}) + whole(folder) + leftovers(folder)
        if outcome.code == 0 and not complaints and "warning: " not in outcome.stderr:
            complaints += bench.differences(command, folder, outcome.stdout)
        if not complaints and outcome.code != 0:
            mount(folder, 65536, remount=True)
            complaints = bench.finished(command, folder)
    finally:
        unmount(folder)
    return 1, f"{command} on {kibibytes} KiB", complaints, folder
