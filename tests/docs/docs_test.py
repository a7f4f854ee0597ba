#!/usr/bin/env python3
"""Checks of the documentation: links, line lengths, wording, spelling, and the command lines of README and the tutorials.

    tests/docs/docs_test.py                                   the texts alone
    tests/docs/docs_test.py --program build/release/bin/voxswap    the command lines alone, on small data

Standard library only. Every complaint names file and line.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").rglob("*.md"))
TEXTS = PAGES + [ROOT / "CITATION.cff"]  # searched for phrases; add sources here
RUN_PAGES = [ROOT / "README.md"] + sorted((ROOT / "docs/tutorials").glob("*.md"))

# Phrase to avoid: plainer wording.
PHRASES = {
    r"tells? of": "describes",
    r"told of": "reported",
    r"(is|are|be) had": "is available",
    r"gone on from": "resumed from",
    r"takes? up again": "resumes",
    r"(made|make|makes|making|computed|measured|planned|found) (again|anew)": "recomputed, measured again, replanned",
    r"stands? twice": "is listed twice",
    r"vouch(es)?": "verifies",
    r"knows? nothing of": "ignores",
    r"the same bits as": "identical to the bit",
    r"who lies where": "offsets over time",
    r"hand(s|ed)? on": "pass on, broadcast",
    r"how the house is built|this house": "architecture",
    r"bears? (up)?on": "affects",
    r"nobody says": "is unknown",
    r"truth maps?": "ground truth",
    r"what (is|was) labelled": "label",
    r"times as fast": "speed-up",
    r"the dealing|deals the cases": "split",
}
PHRASE = re.compile("|".join(rf"(?P<p{i}>\b(?:{words})\b)" for i, words in enumerate(PHRASES)), re.IGNORECASE)

# Words that codespell mistakes for misspellings, in lower case.
SPELLINGS = "te"

# Lines of README and the tutorials that cannot run in the test.
NOT_RUN = ("./quickstart", "./test", "apt-get ", "podman ", "sbatch ", "cmake ",  # need a network, root, a cluster, long
           "mpirun -n 16 --hostfile", "voxswap run EXPERIMENT.yaml")             # are only patterns
STARTS = ("voxswap ", "build/release/bin/voxswap ", "mpirun ", "python3 ") + NOT_RUN


def name(path):
    return path.relative_to(ROOT).as_posix()


def lines_of(path):
    """Returns (number, line, kind); kind is "text", "table", or the language of a code block ("" for an indented one,
    "output" for "text")."""
    result, fence, listed = [], None, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = line.strip()[3:].replace("text", "output") if fence is None else None
            result.append((number, line, "fence"))
            continue
        if fence is not None:
            kind = fence
        elif line.startswith("    ") and not listed:
            kind = ""
        else:
            kind = "table" if line.startswith("|") else "text"
            listed = bool(re.match(r"\s*([-*]|\d+\.) ", line)) or (listed and bool(line.strip()))
        result.append((number, line, kind))
    return result


def is_text(kind):
    return kind in ("text", "table")


def anchor(heading):
    """Returns GitHub's anchor for a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors_of(path):
    return {anchor(line.lstrip("#")) for _, line, kind in lines_of(path) if kind == "text" and line.startswith("#")}


def words_of_cell(cell):
    return len(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).split())


class Documentation(unittest.TestCase):
    def complain(self, complaints):
        if complaints:
            self.fail("\n" + "\n".join(complaints))

    def test_every_relative_link_and_anchor_leads_somewhere(self):
        complaints = []
        for page in PAGES:
            for number, line, kind in lines_of(page):
                for target in re.findall(r"\]\(([^)\s]+)\)", line) if is_text(kind) else []:
                    if re.match(r"[a-z]+:", target):
                        continue
                    path, _, heading = target.partition("#")
                    file = (page.parent / path).resolve() if path else page
                    if not file.exists():
                        complaints.append(f"{name(page)}:{number}: {target}: no such file")
                    elif heading and file.suffix == ".md" and heading not in anchors_of(file):
                        complaints.append(f"{name(page)}:{number}: {target}: no such heading")
        self.complain(complaints)

    def test_every_page_is_in_the_index(self):
        index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
        self.complain([f"docs/index.md: no link to {name(page)}" for page in PAGES
                       if page.parent != ROOT and page.name != "index.md" and f"({page.parent.name}/{page.name}" not in index])

    def test_lines_have_at_most_120_characters(self):
        self.complain([f"{name(page)}:{number}: {len(line)} characters" for page in PAGES for number, line, kind in lines_of(page)
                       if kind == "text" and len(line) > 120 and "](" not in line and "://" not in line])

    def test_cells_of_tables_in_README_have_at_most_15_words(self):
        page = ROOT / "README.md"
        self.complain([f"README.md:{number}: a cell of {words_of_cell(cell)} words" for number, line, kind in lines_of(page)
                       if kind == "table" for cell in line.strip().strip("|").split("|") if words_of_cell(cell) > 15])

    def test_README_has_at_most_90_lines(self):
        lines = len(lines_of(ROOT / "README.md"))
        self.complain([f"README.md:{lines}: {lines} lines"] if lines > 90 else [])

    def test_no_text_has_a_phrase_that_has_a_plainer_word(self):
        complaints = []
        for path in TEXTS:
            text = "\n".join("" if kind == "output" else line for _, line, kind in lines_of(path))  # skip the program's output
            for found in PHRASE.finditer(re.sub(r"\n[ \t]*", lambda gap: " " * len(gap.group()), text)):
                plain = list(PHRASES.values())[int(found.lastgroup[1:])]
                number = text.count("\n", 0, found.start()) + 1
                complaints.append(f"{name(path)}:{number}: \"{' '.join(found.group().split())}\": write {plain}")
        self.complain(complaints)

    def test_spelling(self):
        if shutil.which("codespell") is None:
            self.skipTest("codespell is not installed")
        found = subprocess.run(["codespell", "-L", SPELLINGS, *map(name, TEXTS)], cwd=ROOT, capture_output=True, text=True)
        self.complain((found.stdout + found.stderr).splitlines() if found.returncode else [])

    def test_every_command_can_be_pasted(self):
        self.complain([f"{name(page)}:{number}: leave out the prompt, and put output into a ```text block"
                       for page in PAGES for number, line, kind in lines_of(page)
                       if kind == "console" or (kind in ("", "sh") and re.match(r"\s*[$>] ", line))])

    def test_every_command_line_of_README_and_tutorials_is_run_or_listed(self):
        complaints = []
        for page in RUN_PAGES:
            for number, line, kind in lines_of(page):
                if kind in ("sh", "output", "fence") or is_text(kind) or not line.strip().startswith(STARTS):
                    continue
                if not line.strip().startswith(NOT_RUN):
                    complaints.append(f"{name(page)}:{number}: put it into a ```sh block")
        self.complain(complaints)


# Runs the program with fewer, smaller cases and one epoch, overriding the page. {program} is the real program.
SMALL = r'''#!/usr/bin/env python3
import os, sys
program, arguments = {program!r}, sys.argv[1:]
small = {{"training.epochs": "1", "preprocess.resolution": "16", "network.depth": "2", "network.base_filters": "2"}}
command = arguments[0] if arguments else ""
if "mine.yaml" in arguments:  # `voxswap configure` has chosen the rest for the data
    small = {{"training.epochs": "1"}}
if command == "phantom":
    for option, value in (("--cases", "6"), ("--size", "24")):
        if option in arguments:
            arguments[arguments.index(option) + 1] = value
elif command in ("run", "train", "sweep", "plan", "bench", "preview") and "--as" not in arguments:
    swept = command == "sweep"
    for i, word in enumerate(arguments):
        key, sign, value = word.partition("=")
        if sign and key in small:
            arguments[i] = key + "=" + (small[key] + ",8" if key.endswith("resolution") and "," in value and swept else small.pop(key))
            small.pop(key, None)
    arguments += [key + "=" + value for key, value in small.items()]
os.execv(program, [program] + arguments)
'''


class CommandLines(unittest.TestCase):
    program = None

    @classmethod
    def sandbox(cls, folder, page):
        """Creates a new user's folder with the data that the page expects, and a `voxswap` that runs small examples."""
        shutil.copytree(ROOT / "experiments", folder / "experiments", ignore=shutil.ignore_patterns("data", "*.cpp", "*.h", "*.txt"))
        binaries = folder / "build/release/bin"
        binaries.mkdir(parents=True)
        (binaries / "voxswap").write_text(SMALL.format(program=str(cls.program)))
        (binaries / "voxswap").chmod(0o755)
        if page.name == "README.md":
            cls.phantoms(folder / "my_data", "brats2021")
            cls.phantoms(folder / "experiments/data/phantom", "brats2021")
            shutil.copytree(folder / "my_data", folder / "new_images")
        elif page.name == "your_own_data.md":
            cls.phantoms(folder / "phantoms", "nnunet")
            for kind, end in (("images", "_0000.nii.gz"), ("labels", ".nii.gz")):
                (folder / "my_data" / kind).mkdir(parents=True)
                files = sorted((folder / "phantoms" / (kind + "Tr")).glob("*" + end))
                for number, file in enumerate(files, 1):
                    voxels = gzip.decompress(file.read_bytes())
                    if kind == "labels":  # bytes after the header: keep two of three labels
                        voxels = voxels[:352] + voxels[352:].replace(b"\3", b"\2")
                    (folder / "my_data" / kind / f"case_{number:03}.nii.gz").write_bytes(gzip.compress(voxels))
        return dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1",
                    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")

    @classmethod
    def phantoms(cls, folder, layout):
        subprocess.run([cls.program, "phantom", "--quiet", "--out", folder, "--cases", "6", "--size", "24", "--seed", "1", "--layout", layout],
                       check=True, stdout=subprocess.DEVNULL)

    def test_every_command_line_of_README_and_tutorials_works(self):
        for page in RUN_PAGES:
            commands = shell_commands(page)
            if not commands:
                continue
            with self.subTest(page=name(page)), tempfile.TemporaryDirectory(prefix="voxswap_docs_") as folder:
                environment = self.sandbox(Path(folder), page)
                for number, command in commands:
                    if command.startswith(NOT_RUN) or (command.startswith("mpirun ") and not shutil.which("mpirun")):
                        continue
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1500)
                    if done.returncode != 0:
                        self.fail(f"{name(page)}:{number}: `{command}` ended with {done.returncode}:\n{done.stdout[-2000:]}")


def shell_commands(page):
    """Returns (line number, command) of the sh blocks of a page; a backslash continues a command."""
    commands, goes_on = [], False
    for number, line, kind in lines_of(page):
        if kind != "sh":
            continue
        if goes_on:
            commands[-1][1] += "\n" + line
        elif line.strip():
            commands.append([number, line])
        goes_on = line.endswith("\\")
    return commands


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, help="the program, whose command lines are run")
    options = parser.parse_args()
    CommandLines.program = options.program.resolve() if options.program else None
    case = CommandLines if options.program else Documentation
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())


if __name__ == "__main__":
    main()
