"""The MONAI bundle: MONAI itself runs it, and its label maps are those of the program.

PROGRAM comes from the suite (tests/CMakeLists.txt).
"""
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
                              "spacing": ["preprocess.spacing=[14, 12, 11]", "preprocess.resolution=20",
                                          "preprocess.normalize=image"]}.items():
            with self.subTest(name):
                self.program("train", "tiny.yaml", *changes, "--out", name)
                self.program("predict", name, "--input", "data", "--out", "maps", "--force")
                self.program("export", name, "--to", "monai", "--out", f"{name}_bundle")
                subprocess.run([sys.executable, "-m", "monai.bundle", "run", "--config_file", "configs/inference.json",
                                "--dataset_dir", "../data"], cwd=f"{name}_bundle", check=True, capture_output=True)
                self.compare(f"{name}_bundle/predictions")

    def compare(self, folder):
        theirs, ours = sorted(Path(folder).glob("*_seg.nii.gz")), sorted(Path("maps").glob("*.nii.gz"))
        self.assertEqual((len(theirs), len(ours)), (3, 3))
        for their, our in zip(map(nibabel.load, theirs), map(nibabel.load, ours)):
            numpy.testing.assert_allclose(their.affine, our.affine, atol=1e-4)
            labels = numpy.asarray(our.dataobj)
            self.assertGreater(len(numpy.unique(labels)), 1)
            self.assertLess(numpy.mean(numpy.asarray(their.dataobj) != labels), 1e-3)


if __name__ == "__main__":
    unittest.main()
