"""Kills every command while it writes a file. The next call of the command removes the remains, and until then no
program mistakes them for a case."""

import signal

from workbench import leftovers, whole

TITLE = "kills of writers"
MOMENTS = ["rename", "fsync", "open", "mkdir"]  # before the call, the file is complete; complete but not synced; begun
REFUSED = {"configure", "import", "models"}  # commands that refuse to write into an existing output


def calls(bench, command):
    """Returns how often the command makes each of the calls."""
    folder = bench.trial_folder()
    arguments = bench.commands()[command][0]
    bench.call(arguments, folder, {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT_COUNTS": str(folder / "counts")})
    counts = dict(line.split() for line in (folder / "counts").read_text().splitlines())
    return {kind: int(counts[kind]) for kind in MOMENTS if int(counts[kind]) > 0}


def images_begun(folder):
    """Returns temporary files whose suffix could be mistaken for that of a data set's file."""
    return [f"taken for a case: {path.relative_to(folder)}" for path in folder.glob("**/.voxswap-*") if path.suffix != ".part"]


def trial(bench, random):
    command = random.choice(sorted(set(bench.commands()) - {"check", "quickstart"}))
    counts = bench.once(f"calls {command}", lambda: calls(bench, command))
    kind = random.choice([kind for kind in MOMENTS if kind in counts])
    number, folder = random.randint(1, counts[kind]), bench.trial_folder()
    killed = bench.call(bench.commands()[command][0], folder,
                        {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT": f"{kind}:{number}:KILL"})
    what = f"{command} killed before {kind} {number}"
    if killed.code != -signal.SIGKILL and killed.code != 0:  # each cell of a sweep runs in its own process
        return 1, what, [f"ended with {killed.code}: {killed.stderr[-300:]!r}"], folder
    complaints = whole(folder) + images_begun(folder)
    repeated = bench.call(bench.repeated(command), folder)
    if repeated.code != 0 and not (command in REFUSED and repeated.code == 2):
        complaints.append(f"cannot be repeated: exit code {repeated.code}: {repeated.stderr[-300:]!r}")
    return 1, what, complaints + leftovers(folder), folder
