"""Rows of a measurement as a CSV file: what the scripts beside it write."""
import csv


def write_rows(path, rows):
    """The columns are those of the first row."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
