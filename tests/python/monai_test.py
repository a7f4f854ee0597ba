"""Runs the MONAI bundle in MONAI and compares its label maps with those of the program.

PROGRAM comes from the suite (tests/CMakeLists.txt).
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import nibabel
import numpy

PROGRAM = os.environ["PROGRAM"]
EXPERIMENT = """data: {root: data, modalities: [flair, t1ce], cache: none}
preprocess: {resolution: 16}
network: {name: unet3d, base_filters: 4, depth: 2}
training: {epochs: 4, seed: 5, precision: f32}
"""


class Bundle(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        os.chdir(self.kept.name)
        self.addCleanup(os.chdir, "/")
        self.program("phantom", "--out", "data", "--cases", "3", "--size", "18,20,16", "--seed", "2")
        Path("tiny.yaml").write_text(EXPERIMENT)

    def program(self, *words):
        subprocess.run([PROGRAM, *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)

    def test_gives_the_labels_of_the_program(self):
        for name, changes in {"fixed": [],
                              "masked": ["preprocess.normalize=masked", "preprocess.clip=[1, 99]"],
                              "mirrored": ["evaluate.tta=true", "training.patch=8"],
                              "spacing": ["preprocess.spacing=[14, 12, 11]", "preprocess.resolution=20",
                                          "preprocess.normalize=image"]}.items():
            with self.subTest(name):
                self.program("train", "tiny.yaml", *changes, "--out", name)
                steps = [{"region": "whole_tumor", "remove": "all_but_largest"},
                         {"region": "enhancing_tumor", "remove": "small_whole", "below_mm3": 500},
                         {"region": "tumor_core", "remove": "small_components", "below_mm3": 200}]
                Path(name, "postprocessing.json").write_text(json.dumps({"steps": steps}))
                self.compare(name, "data", name)

    # Axes in other orders and directions, as other programs write them.
    def test_gives_them_as_the_files_are_stored(self):
        for file in Path("data").glob("*/*.nii.gz"):
            image = nibabel.load(file)
            turned = image.as_reoriented(numpy.array([[2, -1], [0, 1], [1, -1]]))
            nibabel.save(turned, Path("turned") / self.made(file.parent.name) / file.name)
        self.program("train", "tiny.yaml", "--out", "run")
        self.compare("run", "turned", "turned")

    def made(self, name):
        Path("turned", name).mkdir(parents=True, exist_ok=True)
        return name

    def compare(self, run, data, name):
        self.program("predict", run, "--input", data, "--out", f"{name}_maps", "--force")
        self.program("export", run, "--to", "monai", "--out", f"{name}_bundle")
        subprocess.run([sys.executable, "-m", "monai.bundle", "run", "--config_file", "configs/inference.json",
                        "--dataset_dir", f"../{data}"], cwd=f"{name}_bundle", check=True, capture_output=True)
        theirs = sorted(Path(f"{name}_bundle/predictions").glob("*_seg.nii.gz"))
        ours = sorted(Path(f"{name}_maps").glob("*.nii.gz"))
        self.assertEqual((len(theirs), len(ours)), (3, 3))
        for their, our in zip(map(nibabel.load, theirs), map(nibabel.load, ours)):
            numpy.testing.assert_allclose(their.affine, our.affine, atol=1e-4)
            labels = numpy.asarray(our.dataobj)
            self.assertGreater(len(numpy.unique(labels)), 1)
            self.assertLessEqual(numpy.count_nonzero(numpy.asarray(their.dataobj) != labels), 1)  # a tie


if __name__ == "__main__":
    unittest.main()
