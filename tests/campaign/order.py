"""A file is synced before it is renamed into place, and its folder afterwards, so that a completed write survives a
power cut. The preloaded library logs the order of the calls."""

from workbench import whole

TITLE = "order of syncs and renames"
COMMANDS = ["run", "train", "sweep", "predict", "evaluate", "report", "phantom", "preview"]


def out_of_order(lines):
    """Returns complaints about files renamed without a sync after the last write, and folders not synced later."""
    synced, dirty_folders, found = set(), set(), []
    for line in lines:
        what, _, identity = line.split()
        if what == "write":
            synced.discard(identity)
        elif what == "sync":
            synced.add(identity)
            dirty_folders.discard(identity)
        elif what == "renamed" and identity not in synced:
            found.append(f"{identity} was renamed and not synced before")
        elif what == "into":
            dirty_folders.add(identity)
    return found + [f"the folder {identity} was not synced after a rename" for identity in sorted(dirty_folders)]


def trial(bench, random):
    command, folder = random.choice(COMMANDS), bench.trial_folder()
    log = folder / "order"
    outcome = bench.call(bench.commands()[command][0], folder,
                         {"LD_PRELOAD": bench.library, "VOXSWAP_FAULT_ORDER": str(log)})
    lines = log.read_text().splitlines() if log.exists() else []
    complaints = outcome.complaints(promised={0}) + out_of_order(lines) + whole(folder)
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("order", "experiment.yaml")
             and "cache" not in path.parts and not path.name.startswith(".") and path.name != "log.txt"]
    renames = sum(line.startswith("renamed ") for line in lines)
    if command != "sweep" and renames < len(files):  # each cell of a sweep runs in its own process
        complaints.append(f"{renames} renames for {len(files)} files: some were not written whole")
    return 1, command, complaints, folder
