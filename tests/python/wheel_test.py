"""Checks the contents of the wheel, and that its program and library give identical results to the build.

BUILD comes from the suite (tests/CMakeLists.txt).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["BUILD"])
EXPERIMENT = """data: {root: data, cache: none}
preprocess: {resolution: 16}
network: {base_filters: 4, depth: 2}
training: {epochs: 1, seed: 5}
memory: {planner: keep}
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        # As built: building here would replace the program that other tests run.
        subprocess.run([SOURCE / "cmake" / "wheel.py", "--build", BUILD, "--as-built", cls.folder / "dist"], check=True,
                       stdout=subprocess.DEVNULL)
        (cls.wheel,) = (cls.folder / "dist").iterdir()
        cls.site = cls.folder / "site"
        with zipfile.ZipFile(cls.wheel) as archive:  # as pip unpacks it
            for entry in archive.infolist():
                os.chmod(archive.extract(entry, cls.site), entry.external_attr >> 16 & 0o777)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_is_below_60_megabytes(self):
        self.assertLess(self.wheel.stat().st_size, 60e6)

    def test_has_the_licence_of_every_library_in_it(self):
        package = self.site / "voxswap"
        listed = json.loads((package / "sbom.spdx.json").read_text())["packages"]
        owners = {one["packageFileName"]: one["name"] for one in listed}
        libraries = {path.name for path in (package / "lib").iterdir()} - {"libvoxswap.so"}
        self.assertLessEqual(libraries, owners.keys())
        self.assertIn("Apache License", (package / "LICENSE").read_text())
        if not shutil.which("dpkg-query"):
            self.skipTest("licences come from Debian's packages")
        for name in {owners[library] for library in libraries} | {"libcli11-dev", "nlohmann-json3-dev"}:
            with self.subTest(name):
                text = (package / "licenses" / name).read_text(errors="replace")
                self.assertIn("opyright", text)
                for named in re.findall("/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text):
                    self.assertTrue((package / "licenses" / "common-licenses" / named).is_file(), named)

    def test_has_the_version_of_the_recipe_for_conda(self):
        recipe = (SOURCE / "packaging" / "conda" / "recipe.yaml").read_text()
        version = re.search('version: "(.*)"', recipe).group(1)
        self.assertTrue(self.wheel.name.startswith(f"voxswap-{version}-"))

    def test_trains_and_predicts_the_bits_of_the_build(self):
        (self.folder / "tiny.yaml").write_text(EXPERIMENT)
        environment = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("LD_LIBRARY_PATH", None)
        environment.pop("VOXSWAP_LIBRARY", None)
        programs = {"build": [BUILD / "bin" / "voxswap"], "wheel": [sys.executable, "-m", "voxswap"]}
        results = {}

        def program(name, *words):
            subprocess.run([*programs[name], *words, "--quiet"], cwd=self.folder, env=environment, check=True,
                           stdout=subprocess.DEVNULL)

        program("build", "phantom", "--out", "data", "--cases", "3", "--size", "16", "--seed", "2")
        for name in programs:
            program(name, "train", "tiny.yaml", "--out", name)
            program(name, "predict", name, "--input", "data", "--out", f"maps_{name}")
            files = [self.folder / name / "checkpoints" / "best.safetensors",
                     *sorted((self.folder / f"maps_{name}").glob("*.nii.gz"))]
            results[name] = [file.read_bytes()[-100_000:] for file in files]
        self.assertEqual(len(results["build"]), 4)
        self.assertEqual(results["build"][1:], results["wheel"][1:])
        subprocess.run([sys.executable, "-c", "import voxswap; voxswap.run('tiny.yaml', ['output.dir=python'])"],
                       cwd=self.folder, env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.assertTrue((self.folder / "python" / "dice.csv").exists())


if __name__ == "__main__":
    unittest.main()
