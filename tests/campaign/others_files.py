"""Foreign files in the way of every command: under its output names, edited results, and links that lead out of its
folder. Either no byte of them is lost, or the command refuses."""

import os
import shutil

TITLE = "files of others"
REFUSED = {1, 2, 3}
# Commands that write no file.
SILENT = {"check", "watch", "schema", "completion", "info"}
WITHOUT_CASE = {"quickstart"}  # runs phantom, configure and run in turn


def visible(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)}


def outputs(bench, command):
    """Returns the names of the files that the command writes."""
    def undisturbed():
        folder = bench.trial_folder()
        before = visible(folder)
        outcome = bench.call(bench.commands()[command][0], folder)
        if outcome.code != 0:
            raise RuntimeError(f"{command}: exit code {outcome.code}: {outcome.stderr}")
        return sorted(name for name in visible(folder) - before if name.parts[0] != "cache" or "derivative" in name.parts)
    return bench.once(f"outputs {command}", undisturbed)


def lost(folder, kept):
    """Returns complaints about contents of `kept` that no file in the folder contains any more."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return [f"is lost: {name}" for name, content in kept.items() if not any(content in one for one in contents)]


def place_foreign(folder, names, random):
    kept = {}
    for name in random.sample(names, random.randint(1, len(names))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        kept[name] = f"somebody's own {name} {random.random()}".encode()
        (folder / name).write_bytes(kept[name])
    return kept


def edit(folder, names, random):
    kept = {}
    for name in random.sample(names, random.randint(1, min(3, len(names)))):
        file = folder / name
        kept[name] = file.read_bytes() + b" edited by hand"
        file.unlink()  # checkpoints are hard-linked under 2 names
        file.write_bytes(kept[name])
    return kept


def lead_out(folder, outside, names, random):
    """Replaces a result, or the folder that contains it, by a link to it, moved outside."""
    name = random.choice(names)
    whole_folder = len(name.parts) > 2 and random.random() < 0.5
    inner = folder / name.parent if whole_folder else folder / name
    shutil.move(inner, outside / "moved")
    os.symlink(outside / "moved", inner)
    for path in [outside / "moved", *(outside / "moved").rglob("*")]:
        if path.is_file():
            path.write_bytes(path.read_bytes() + b" edited outside")
    return {path: path.read_bytes() for path in [outside / "moved", *(outside / "moved").rglob("*")] if path.is_file()}


def trial(bench, random):
    if missing := bench.names() - {command.split()[0] for command in bench.commands()} - SILENT:
        return 1, "the table of commands", [f"no case for {', '.join(sorted(missing))}"], bench.trial_folder()
    command = random.choice(sorted(name for name in bench.commands() if name not in SILENT | WITHOUT_CASE))
    names, folder, outside = outputs(bench, command), bench.trial_folder(), bench.trial_folder()
    kind = random.choice(["foreign", "edited", "link"])
    kept, gone = {}, {}
    if kind != "foreign":
        bench.call(bench.commands()[command][0], folder)
    if kind == "foreign":
        kept = place_foreign(folder, names, random)
    elif kind == "edited":
        kept = edit(folder, names, random)
    else:
        gone = lead_out(folder, outside, names, random)
    outcome = bench.call(bench.repeated(command), folder)
    complaints = lost(folder, kept)
    complaints += lost(outside, gone)
    if outcome.code != 0 and outcome.code not in REFUSED:
        complaints.append(f"exit code {outcome.code}: {outcome.stderr[-300:]!r}")
    shutil.rmtree(outside)
    names_of_files = ", ".join(map(str, kept or [path.name for path in gone]))
    return 1, f"{command} with {kind} files ({names_of_files[:200]}): {outcome.code}", complaints, folder
