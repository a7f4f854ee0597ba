"""Flipped bytes, cuts and insertions in every kind of input file. One process reads a whole batch."""

import gzip
import shutil
import struct
import subprocess
from pathlib import Path

TITLE = "damaged inputs"
BATCH = 100
FIXTURES = Path(__file__).parents[1] / "fixtures"
NNUNET = FIXTURES / "nnunet_results" / "nnUNetTrainer__nnUNetPlans__2d"
# Kinds with a checksum that must detect every change: the reader returns the original content or an error.
SUMMED = {"image .nii.gz", "checkpoint", "model", "prepared case", "remembered costs", "remembered warnings"}


def sources(bench):
    """Returns the files to damage as (title, reader, bytes, file name); the reader is an argument of read_files."""
    run, folder = bench.base / "run", bench.base / "formats"
    folder.mkdir()
    first = lambda place, pattern: sorted(place.rglob(pattern))[0].read_bytes()
    volume = first(bench.data, "*flair.nii.gz")
    plain = gzip.decompress(volume)
    found = [("image .nii.gz", "image", volume, "a.nii.gz"), ("image .nii", "image", plain, "a.nii"),
             ("label map", "label_map", first(bench.base / "maps", "*.nii.gz"), "a.nii.gz"),
             ("image .mha", "image", mha(plain), "a.mha"), ("image .nrrd", "image", nrrd(plain), "a.nrrd"),
             ("description", "description", first(run, "dataset.json"), "a.json"),
             ("split", "split", first(run, "split.csv"), "split.csv"),
             ("experiment", "experiment", first(run, "experiment.yaml"), "a.yaml"),
             *remembered(bench, "prepared case", "prepared", "*.prepared"),
             *remembered(bench, "remembered costs", "sealed", "costs/*.costs"),
             *remembered(bench, "remembered warnings", "sealed", "checks/*.csv")]
    found += [("checkpoint", "checkpoint", first(run, f"{name}.safetensors"), "a.safetensors") for name in ("best", "last")]
    found.append(("torch file", "torch", (FIXTURES / "torch_file.pth").read_bytes(), "a.pth"))
    found.append(("model", "model", (bench.base / "network.model").read_bytes(), "a.model"))
    bench.must("export", str(run), "--to", "monai", "--out", str(bench.base / "bundle"))
    found += [(f"{kind} {Path(name).name}", kind, (folder_of(bench, kind) / name).read_bytes(), name)
              for kind, name in (("bundle", "configs/voxswap.json"), ("nnU-Net", "plans.json"), ("nnU-Net", "dataset.json"))]
    found.append(("nnU-Net postprocessing.pkl", "nnU-Net", (NNUNET.parent / "postprocessing.pkl").read_bytes(),
                  "crossval_results_folds_0/postprocessing.pkl"))
    found += [(f"{name}.csv", name, first(run, f"{name}.csv"), "a.csv")
              for name in ("dice", "epochs", "timing", "validation", "memory")]
    bench.must("phantom", "--out", str(folder / "dicom"), "--cases", "1", "--size", "16", "--layout", "dicom")
    found.append(("dicom", "image", first(folder / "dicom", "*.dcm"), "slice.dcm"))
    encoded = folder / "encoded"
    encoded.mkdir()
    subprocess.run([bench.reader, "encoded", encoded], check=True, env=bench.environment())
    found += [(f"compressed {file.name}", "image", file.read_bytes(), file.name) for file in sorted(encoded.iterdir())]
    bench.must("phantom", "--out", str(folder / "msd"), "--cases", "1", "--size", "16", "--layout", "msd")
    return found + [("dataset.json", "dataset", first(folder / "msd", "dataset.json"), "dataset.json")]


def remembered(bench, title, reader, pattern):
    """Returns one cache file as (title, reader, bytes, file name); the reader verifies its checksum."""
    cache = bench.base / "cache"
    if not list(cache.glob("costs/*.costs")):
        bench.must("plan", "experiment.yaml")  # a run on a busy machine deletes costs that its step times contradict
    file = sorted(cache.glob(pattern))[0]
    return [(title, reader, file.read_bytes(), file.name)]


def folder_of(bench, kind):
    """Returns the folder that is read as a whole and has a file of this kind, or None."""
    folders = {"dataset.json": bench.base / "formats" / "msd", "bundle": bench.base / "bundle", "nnU-Net": NNUNET}
    return folders.get(kind) or folders.get(kind.partition(" ")[0])


def voxels_of(plain):
    size = struct.unpack("<3h", plain[42:48])
    offset, = struct.unpack("<f", plain[108:112])
    kind, = struct.unpack("<h", plain[70:72])
    return size, {2: "UCHAR", 4: "SHORT", 16: "FLOAT"}[kind], plain[int(offset):]


def mha(plain):
    size, kind, voxels = voxels_of(plain)
    header = (f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nElementSpacing = 1 1 1\n"
              f"DimSize = {size[0]} {size[1]} {size[2]}\nElementType = MET_{kind}\nElementDataFile = LOCAL\n")
    return header.encode() + voxels


def nrrd(plain):
    size, kind, voxels = voxels_of(plain)
    kind = {"UCHAR": "uint8", "SHORT": "int16", "FLOAT": "float"}[kind]
    header = (f"NRRD0004\ntype: {kind}\ndimension: 3\nsizes: {size[0]} {size[1]} {size[2]}\nencoding: gzip\nendian: little\n"
              "space: left-posterior-superior\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\n\n")
    return header.encode() + gzip.compress(voxels)


def damaged(kind, content, random):
    """Returns the bytes with one random defect, and a description of the defect."""
    content = bytearray(content)
    # Third-party decoders read the pixels, which start after the last element of a slice.
    if kind.startswith("compressed") and (pixels := content.find(b"\xe0\x7f\x10\0OB")) > 0 and random.random() < 0.5:
        content[random.randrange(pixels, len(content))] ^= 1 << random.randrange(8)
        return bytes(content), "flip behind the pixels' tag"
    # Favour headers: they are short but have more ways to be misread.
    at = random.randrange(min(len(content), random.choice([64, 512, len(content)])))
    change = random.choice(["flip", "flip", "byte", "cut", "insert", "remove", "zeros", "digits"])
    if change == "flip":
        content[at] ^= 1 << random.randrange(8)
    elif change == "byte":
        content[at] = random.choice([0, 0xff, 0x80, 0x7f, ord("-"), ord("9"), ord('"'), ord("{"), ord("\n")])
    elif change == "cut":
        del content[at:]
    elif change == "insert":
        content[at:at] = random.randbytes(random.randint(1, 40))
    elif change == "remove":
        del content[at:at + random.randint(1, 40)]
    elif change == "zeros":
        content[at:at + 16] = bytes(min(16, len(content) - at))
    else:
        content[at:at + 1] = random.choice([b"99999999999999999999", b"-1", b"1e308", b"nan", b"inf", b"0x10", b"\xff\xfe"])
    return bytes(content), f"{change} at {at}"


def place(bench, folder, index, kind, content, name):
    """Writes a damaged file where its reader expects it. Returns the path to pass to the reader."""
    place = folder / f"{index}"
    path = place / name
    whole = folder_of(bench, kind)
    if whole:
        shutil.copytree(whole, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in ("split",):
        (place / "data").symlink_to(bench.data)
    if kind == "prepared case":
        shutil.copy(bench.base / "experiment.yaml", place)
    if kind == "dicom":
        for slice_file in sorted((bench.base / "formats" / "dicom").rglob("*.dcm"))[1:16]:
            (place / slice_file.name).symlink_to(slice_file)
    path.write_bytes(content)
    return place if whole or path.suffix == ".dcm" else path


def read(bench, reader, paths):
    """Returns one output line per file (fewer if the process died) and the exit code."""
    process = subprocess.run([bench.reader, reader], input="".join(f"{path}\n" for path in paths).encode(),
                             capture_output=True, env=bench.environment(), timeout=600)
    return process.stdout.decode(errors="replace").split("\n")[:-1], process.returncode


def unlike_promised(line):
    """Returns whether a line of read_files is neither a result nor an error with an expected code and a message."""
    exit_code, _, message = line.partition("\t")
    return exit_code not in ("0", "2", "3", "4") or (exit_code == "4" and "memory" not in message) or not message


def trial(bench, random):
    kind, reader, content, name = random.choice(bench.once("sources", lambda: sources(bench)))
    folder = bench.trial_folder()
    whole_path = place(bench, folder, "whole", kind, content, name)
    changes, paths = [], [whole_path]
    for index in range(BATCH):
        changed, how = damaged(kind, content, random)
        changes.append((changed != content, how))
        paths.append(place(bench, folder, index, kind, changed, name))
    lines, code = read(bench, reader, paths)
    complaints = []
    if len(lines) != len(paths):
        how = changes[len(lines) - 1][1] if lines else "nothing"
        complaints.append(f"{kind}, {how}: the process ended with {code}; {paths[len(lines)]}")
    for (changed, how), line in zip(changes, lines[1:]):
        exit_code, _, message = line.partition("\t")
        if unlike_promised(line):
            complaints.append(f"{kind}, {how}: {line[:300]!r}")
        if kind in SUMMED and changed and exit_code == "0" and message != lines[0].partition("\t")[2]:
            complaints.append(f"{kind}, {how}: is read as something else without a word")
    if not lines or not lines[0].startswith("0\t"):
        complaints.append(f"{kind}: cannot be read undamaged: {lines[:1]}")
    return len(changes), f"{kind}, {BATCH} at once", complaints[:5], folder
