"""A process is killed while it writes a file, in every command; the next call of the command leaves nothing of it behind,
and no program takes what was left for a case in the meantime."""

import signal

from workbench import leftovers, whole

TITLE = "kills of writers"
MOMENTS = ["rename", "fsync", "open", "mkdir"]  # before the call: the file is complete, complete but not synced, begun
REFUSED = {"configure", "import"}  # that write into what is not there yet


def calls(bench, command):
    """How often it makes each of the calls."""
    folder = bench.trial_folder()
    arguments = bench.commands()[command][0]
    bench.call(arguments, folder, {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT_COUNTS": str(folder / "counts")})
    counts = dict(line.split() for line in (folder / "counts").read_text().splitlines())
    return {kind: int(counts[kind]) for kind in MOMENTS if int(counts[kind]) > 0}


def images_begun(folder):
    """Whatever ends as a data set's files do and is not whole."""
    return [f"taken for a case: {path.relative_to(folder)}" for path in folder.glob("**/.voxswap-*") if path.suffix != ".part"]


def trial(bench, random):
    command = random.choice(sorted(set(bench.commands()) - {"check", "quickstart"}))
    counts = bench.once(f"calls {command}", lambda: calls(bench, command))
    kind = random.choice([kind for kind in MOMENTS if kind in counts])
    number, folder = random.randint(1, counts[kind]), bench.trial_folder()
    killed = bench.call(bench.commands()[command][0], folder,
                        {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT": f"{kind}:{number}:KILL"})
    what = f"{command} killed before {kind} {number}"
    if killed.code != -signal.SIGKILL and killed.code != 0:  # a cell of a sweep is a process of its own
        return 1, what, [f"ended with {killed.code}: {killed.stderr[-300:]!r}"], folder
    complaints = whole(folder) + images_begun(folder)
    repeated = bench.call(bench.repeated(command), folder)
    if repeated.code != 0 and not (command in REFUSED and repeated.code == 2):
        complaints.append(f"cannot be repeated: exit code {repeated.code}: {repeated.stderr[-300:]!r}")
    return 1, what, complaints + leftovers(folder), folder
