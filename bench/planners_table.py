#!/usr/bin/env python3
"""Prints Markdown tables for docs/results/planning.md from the output of `planners grid` and `planners study`.

    planners_table.py grid  bench/results/2026-11-24_planners.csv
    planners_table.py study bench/results/2026-11-21_planners_study.csv

With `grid`, also lists the cells in which hybrid is not the fastest, or is not within 1.10 of a lower bound that
exceeds keep's time (otherwise 1.05 of keep's time).
"""
import csv
import math
import sys

PLANNERS = ["keep", "lms-threshold", "tflms", "checkpoint", "hybrid"]


def cells(path):
    """Returns (device, link, precision, side, budget) -> planner -> row, in the file's order."""
    result = {}
    for row in csv.DictReader(open(path)):
        key = tuple(row[k] for k in ("device", "link_gbps", "precision", "side", "budget_gib"))
        result.setdefault(key, {})[row["planner"]] = row
    return result


def ratio(value):
    value = float(value)
    return "-" if not math.isfinite(value) else f"{value:.2f}" if value < 9.995 else f"{value:.0f}"


def shortcomings(rows):
    hybrid = rows["hybrid"]
    taken, keep, bound = (float(hybrid[k]) for k in ("seconds", "keep_seconds", "bound"))
    if math.isinf(bound):
        return []
    if math.isnan(taken):
        return ["does not fit"]
    found = []
    for name, row in rows.items():
        if float(row["seconds"]) < taken * (1 - 5e-5):
            found.append(f"{name} takes {float(row['seconds']) / taken:.4f} of its time")
    if bound > keep * (1 + 1e-6) and taken > 1.10 * bound:
        found.append(f"{taken / bound:.2f} of the bound")
    if bound <= keep * (1 + 1e-6) and taken > 1.05 * keep:
        found.append(f"{taken / keep:.2f} of keep's time")
    return found


def grid(path):
    print("| device | GB/s | precision | side | GiB | " + " | ".join(PLANNERS) + " | bound | hybrid / bound |")
    print("|---|---|---|---|---|" + "---|" * (len(PLANNERS) + 2))
    for key, rows in cells(path).items():
        first = rows["hybrid"]
        bound = float(first["bound"]) / float(first["keep_seconds"])
        figures = [ratio(rows[p]["overhead"]) for p in PLANNERS]
        print("| " + " | ".join([*key, *figures, ratio(bound), ratio(first["gap"])]) + " |")
    print()
    for key, rows in cells(path).items():
        for found in shortcomings(rows):
            print(f"- {key[0]}, {key[1]} GB/s, {key[2]}, {key[3]}^3 in {key[4]} GiB: {found}")


def study(path):
    rows = list(csv.DictReader(open(path)))
    machines = list(dict.fromkeys((r["machine"], r["devices"]) for r in rows))
    print("| planner, budget | " + " | ".join(f"{m}, {d} GPU{'s' * (d != '1')}" for m, d in machines) + " |")
    print("|---|" + "---|" * len(machines))
    published = {(r["machine"], r["devices"]): r["study_per_voxel_over_144"] for r in rows}
    print("| the study, TFLMS, 16 GB | " + " | ".join(ratio(published[m]) for m in machines) + " |")
    for setting in dict.fromkeys((r["planner"], r["budget_bytes"]) for r in rows):
        of = {(r["machine"], r["devices"]): r for r in rows if (r["planner"], r["budget_bytes"]) == setting}
        figures = " | ".join(ratio(of[m]["per_voxel_over_144"]) for m in machines)
        print(f"| {setting[0]}, {int(setting[1]) / 2**30:.2f} GiB | {figures} |")


if __name__ == "__main__":
    {"grid": grid, "study": study}[sys.argv[1]](sys.argv[2])
