"""Malicious experiment files, numbers, encodings, names and file types."""

import os
import shutil
import socket
from pathlib import Path

from workbench import leftovers, whole

TITLE = "hostile files and names"

NAMES = ["it's", 'a "quoted" name', "two\nlines", "<script>alert(1)</script>", "`touch gotcha`", "$(touch gotcha)",
         "-rf", "--help", "%s%n%d", "a;b", "ümläut ½ 脳", "a&amp;b", "]]>", "\\", "  spaces  ", "#hash", "{case}", "x" * 200,
         "a.nii", "b.hdr", "c.nii.gz", "\t", "*", "?", "con{t}", "\x07bell", "...", "\x1b[2Jcleared", "\x9btitle", "=1+1", "@x", "-1-1",
         "c\udce9", "\udcff\udcfe", "~", "~x"]
NUMBERS = ["0", "-1", "1e308", "1e-308", "nan", "inf", "-inf", "99999999999999999999999", "0x10", "1_000", "--1", "1.5", "",
           "true", "null", "[]", "{}", "[1, 2]", "9223372036854775807", "-9223372036854775808", "4KiB", "16EiB", "'8 '", "８"]
KEYS = ["preprocess.resolution", "network.base_filters", "network.depth", "network.dropout", "training.epochs",
        "training.batch_size", "training.seed", "training.repeats", "training.checkpoint_minutes", "training.early_stop",
        "training.optimizer.learning_rate", "training.optimizer.weight_decay", "training.patch", "memory.budget",
        "memory.host", "memory.lms_threshold", "preprocess.background", "data.split.validation", "data.split.seed",
        "evaluate.at", "memory.disk"]
DEEP = 2000


def bombs():
    """Returns malicious YAML texts: multiplying aliases, deep nesting, binary content."""
    layers = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]\n" for i in range(1, 12))
    return [b"x0: &x0 [lol]\n" + layers.encode(), b"[" * DEEP, b"a: " + b"{a: " * DEEP, b"\xff\xfen\x00a\x00", b"\x00" * 500,
            b"name: \xff\xfe\xfd", b"&a [*a]", b"? ? ? ?", b"- " * DEEP, b"%YAML 9.9\n---\nname: x", b"name: x\n--- \nname: y",
            b"name: [" + b"1," * 200000 + b"]", b"name: " + b"x" * 1000000, b"!!binary x", b"name: !!python/object x", b"\t", b"",
            b"name: x\nname: y", b"<<: *nothing", "name: \u202eevil".encode(), "\ufeffname: x".encode(), b"data: {root: 5}\n" * 2]


def yaml_trial(bench, random, folder):
    bomb = random.choice(bombs())
    (folder / "experiment.yaml").write_bytes(bomb)
    outcome = bench.call([random.choice(["run", "plan", "sweep", "check", "preview"]), "experiment.yaml"], folder)
    return f"experiment.yaml of {bomb[:40]!r}…", outcome.complaints(promised={2, 3, 4})


def number_trial(bench, random, folder):
    key, value = random.choice(KEYS), random.choice(NUMBERS)
    command = random.choice([["train", "experiment.yaml", "--out", "out"], ["plan", "experiment.yaml", "--estimate"],
                             ["run", "experiment.yaml", "--dry-run"]])
    outcome = bench.call(command + [f"{key}={value}", "training.epochs=1"] if key != "training.epochs" or value == "" else
                         ["plan", "experiment.yaml", "--estimate", f"{key}={value}"], folder)
    return f"{command[0]} {key}={value}", outcome.complaints(promised={0, 1, 2, 3, 4})


def name_trial(bench, random, folder):
    """Uses a hostile name for the experiment, the output folder, a case, a region or the cache."""
    name = random.choice(NAMES)
    what = random.choice(["experiment", "out", "case", "region", "cache"])
    if what == "case":
        shutil.copytree(bench.data, folder / "data")
        for case in sorted((folder / "data").glob("Bra*"))[:2]:
            renamed = f"{name}{case.name[-1]}"
            case.rename(folder / "data" / renamed)
        arguments = ["run", "experiment.yaml", "--out", "out", "data.root=" + str(folder / "data"), "data.layout=files",
                     "data.files={flair: '{case}/*flair.nii.gz', t1ce: '{case}/*t1ce.nii.gz', truth: '{case}/*seg.nii.gz'}"]
    elif what == "experiment":
        arguments = ["run", "experiment.yaml", "--out", "out", f"name={name}"]
    elif what == "out":
        arguments = ["run", "experiment.yaml", f"--out={name}"]
    elif what == "region":
        arguments = ["run", "experiment.yaml", "--out", "out", f"data.regions={{{quoted(name)}: [1, 2, 4]}}"]
    else:
        arguments = ["run", "experiment.yaml", "--out", "out", f"data.cache={name}"]
    outcome = bench.call(arguments, folder)
    complaints = outcome.complaints(promised={0, 2, 3}) + whole(folder) + leftovers(folder)
    if list(Path(folder).rglob("gotcha")):
        complaints.append("a name was executed")
    for page in Path(folder).rglob("report.html"):
        if "<script>alert" in page.read_text(errors="replace"):
            complaints.append("a name is part of the page's markup")
    return f"{what} named {name!r}", complaints


def kind_trial(bench, random, folder):
    """Replaces a file that a command reads by a pipe, socket, device, folder or link."""
    shutil.copytree(bench.data, folder / "data")
    shutil.copytree(bench.base / "run", folder / "run")
    text = (folder / "experiment.yaml").read_text().replace(str(bench.data), str(folder / "data"))
    (folder / "experiment.yaml").write_text(text)
    path = random.choice(sorted(path for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts))
    path.unlink()
    kind = random.choice(["pipe", "socket", "device", "endless device", "folder", "link to itself"])
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        here = os.open(path.parent, os.O_RDONLY)  # socket paths have a length limit
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/null", "endless device": "/dev/zero"}.get(kind, path.name))
    arguments = random.choice([
        ["run", "experiment.yaml", "--out", "out"], ["run", "run", "--resume"], ["check", "data"], ["report", "run", "--out", "out"],
        ["predict", "run", "--input", "data", "--out", "out"], ["convert", "data", "--out", "out"], ["watch", "run", "--once"],
        ["evaluate", "--truth", "run/predictions", "--prediction", "run/predictions", "--out", "out.csv"],
        ["phantom", "--out", "data", "--cases", "4", "--size", "16", "--seed", "3"]])
    outcome = bench.call(arguments, folder)
    name = path.relative_to(folder)
    return f"{kind} in place of {name}, {arguments[0]}", outcome.complaints(promised={0, 1, 2, 3}, tables=True) + leftovers(folder)


def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\x07", "\\a") + '"'


def trial(bench, random):
    folder = bench.trial_folder()
    subject, complaints = random.choice([yaml_trial, number_trial, name_trial, kind_trial])(bench, random, folder)
    return 1, subject, complaints, folder
