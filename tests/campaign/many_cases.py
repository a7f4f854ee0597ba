"""Checks, splits and trains on a data set of 2,000 cases."""

from workbench import leftovers, whole

TITLE = "2,000 cases"
CASES = 2000


def trial(bench, random):
    folder = bench.trial_folder()
    cases = sorted(case for case in bench.data.iterdir() if case.is_dir())
    for number in range(CASES):
        source = cases[number % len(cases)]
        name = f"BraTS2021_{number:05d}"
        (folder / "data" / name).mkdir(parents=True)
        for file in source.iterdir():
            (folder / "data" / name / file.name.replace(source.name, name)).symlink_to(file)
    checked = bench.call(["check", "data"], folder, seconds=900)
    complaints = checked.complaints(promised={0})
    run = bench.call(["train", "experiment.yaml", "--out", "out", f"data.root={folder / 'data'}", "training.epochs=1",
                      "training.checkpoint_minutes=1"], folder, seconds=900)
    complaints += run.complaints(promised={0}) + whole(folder / "out") + leftovers(folder)
    split = folder / "out" / "split.csv"
    if not complaints and len(split.read_text().splitlines()) != CASES + 1:
        complaints.append("the split has not every case")
    return CASES, f"{CASES} cases", complaints, folder
