"""Writes rows of measurements as CSV files for the scripts in this folder."""
import csv


def write_rows(path, rows):
    """Writes the rows; the columns are those of the first row."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
