"""Runs one ONNX file at several sizes in ONNX Runtime and compares the probabilities with those of voxswap.

PROGRAM and PYTHONPATH come from the suite (tests/CMakeLists.txt).
"""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy
import onnxruntime
import voxswap

PROGRAM = os.environ["PROGRAM"]
SPACING = (13, 12, 10)
EXPERIMENT = f"""data: {{root: data, modalities: [flair, t1ce], cache: none}}
preprocess: {{spacing: {list(SPACING)}, resolution: 24, crop: none, normalize: none}}
network: {{name: isensee2017, base_filters: 4, depth: 3}}
training: {{epochs: 2, seed: 5, precision: f32}}
"""
SHAPES = [(16, 16, 16), (8, 24, 32), (24, 12, 40)]  # z, y, x


class File(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        os.chdir(self.kept.name)
        self.addCleanup(os.chdir, "/")

    def program(self, *words):
        subprocess.run([PROGRAM, *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)

    def test_gives_the_probabilities_of_the_program_at_several_sizes(self):
        self.program("phantom", "--out", "data", "--cases", "4", "--size", "18,20,16", "--seed", "2")
        Path("tiny.yaml").write_text(EXPERIMENT)
        self.program("train", "tiny.yaml", "--out", "run")
        self.program("export", "run", "--out", "model.onnx")
        session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
        random = numpy.random.default_rng(1)
        for shape in SHAPES:
            with self.subTest(shape):
                image = random.normal(size=(2, *shape)).astype(numpy.float32)
                network = voxswap.Network("run", window=shape[::-1], probabilities=True)
                _, ours = network.predict(image, axes="zyx", spacing=SPACING)
                theirs = session.run(None, {"image": image[None]})[0][0]
                self.assertGreater(ours.std(), 0.1)
                numpy.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
