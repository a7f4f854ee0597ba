#!/usr/bin/env python3
"""Validates the schema that voxswap prints with Python's jsonschema: it is well-formed, accepts every shipped
experiment and refuses every line of tests/fixtures/broken_experiments.txt.

Usage: python3 check_schema.py PROGRAM       (needs jsonschema and ruamel.yaml, which reads YAML 1.2; used with 4.26, 0.18)
"""
import json
import pathlib
import subprocess
import sys

import jsonschema
from ruamel.yaml import YAML


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    schema = json.loads(subprocess.run([sys.argv[1], "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    check = jsonschema.Draft7Validator(schema)
    yaml = YAML(typ="safe", pure=True)
    shipped = sorted((root / "experiments").glob("*.yaml"))
    wrong = 0
    for path in shipped:
        for error in check.iter_errors(yaml.load(path)):
            wrong += 1
            print(f"{path.name}: refused: {error.json_path}: {error.message[:200]}")
    broken = (root / "tests/fixtures/broken_experiments.txt").read_text().splitlines()
    for line in broken:
        if check.is_valid(yaml.load(line)):
            wrong += 1
            print(f"accepted: {line}")
    print(f"{len(shipped)} experiments, {len(broken)} broken ones, {wrong} not as they should be")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
