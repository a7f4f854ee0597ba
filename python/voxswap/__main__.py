"""Runs the program `voxswap`, which is stored beside this module."""
import os
import sys
from pathlib import Path


def main():
    program = Path(__file__).parent / "bin" / "voxswap"
    os.execv(program, ["voxswap", *sys.argv[1:]])


if __name__ == "__main__":
    main()
