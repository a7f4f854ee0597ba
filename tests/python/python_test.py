"""The Python package trains, predicts and reads exactly as the program does.

PROGRAM and PYTHONPATH come from the suite (tests/CMakeLists.txt).
"""
import concurrent.futures
import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import nibabel
import numpy
import pandas
import voxswap

PROGRAM = os.environ["PROGRAM"]
EXAMPLES = Path(__file__).parents[2] / "examples"
EXPERIMENT = """name: tiny
data: {root: data, modalities: [flair, t1ce], split: {validation: 0.4}, cache: cache}
preprocess: {resolution: 16}
network: {base_filters: 2, depth: 2}
training: {epochs: 2, seed: 5, precision: f32}
output: {dir: runs/tiny}
"""


def program(*words, folder):
    subprocess.run([PROGRAM, *map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        os.chdir(cls.folder)
        program("phantom", "--out", "data", "--cases", 6, "--size", "18,20,16", "--seed", 2, folder=cls.folder)
        (cls.folder / "tiny.yaml").write_text(EXPERIMENT)
        cls.epochs = []
        cls.run_folder = voxswap.run("tiny.yaml", on_epoch=cls.epochs.append)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.kept.cleanup()

    def paths(self, name="BraTS2021_00001"):
        return [f"data/{name}/{name}_{channel}.nii.gz" for channel in ("flair", "t1ce")]

    def files(self):
        return [nibabel.load(path) for path in self.paths()]

    def case(self, name="BraTS2021_00001"):
        files = [nibabel.load(path) for path in self.paths(name)]
        image = numpy.stack([numpy.asarray(file.dataobj, numpy.float32).T for file in files])
        return image, files[0].affine

    def test_tells_of_every_epoch_and_leaves_the_tables_of_the_program(self):
        self.assertEqual([epoch["epoch"] for epoch in self.epochs], [1, 2])
        self.assertEqual(set(self.epochs[0]["scores"]), {"whole_tumor", "tumor_core", "enhancing_tumor"})
        tables = voxswap.read_run(self.run_folder)
        self.assertEqual(list(tables["epochs"]["train_loss"]), [epoch["train_loss"] for epoch in self.epochs])
        self.assertEqual(set(tables["dice"]["region"]), set(self.epochs[0]["scores"]))
        with self.assertRaises(FileNotFoundError):
            voxswap.read_run(self.folder / "data")

    def test_reads_texts_that_a_spreadsheet_would_take_for_formulas(self):
        folder = self.folder / "marked"
        folder.mkdir()
        (folder / "dice.csv").write_text("case,dice\n'=x,-1\n'y,-0.5\n")
        table = voxswap.read_run(folder)["dice"]
        self.assertEqual(table.values.tolist(), [["=x", -1], ["'y", -0.5]])

    def test_predicts_the_bits_of_the_program(self):
        program("predict", "runs/tiny", "--input", "data", "--out", "out", "--probabilities", "--force",
                folder=self.folder)
        network = voxswap.Network("runs/tiny", probabilities=True)
        self.assertEqual(network.channels, ["flair", "t1ce"])
        self.assertEqual(network.labels, {"necrosis": 1, "oedema": 2, "enhancing": 4})
        for name in ("BraTS2021_00001", "BraTS2021_00004"):
            image, affine = self.case(name)
            labels, probabilities = network.predict(image, axes="zyx", affine=affine)
            expected = numpy.asarray(nibabel.load(f"out/{name}.nii.gz").dataobj).T
            self.assertTrue(numpy.array_equal(labels, expected))
            self.assertEqual(labels.dtype, numpy.int16)
            for output, found in zip(network.outputs, probabilities, strict=True):
                file = nibabel.load(f"out/probabilities/{name}_{output}.nii.gz")
                self.assertTrue(numpy.array_equal(found, numpy.asarray(file.dataobj, numpy.float32).T))

    def test_the_module_of_slicer_gives_the_same_labels(self):
        image, affine = self.case()
        nibabel.save(nibabel.Nifti1Image(image.T, affine), "both.nii.gz")
        done = subprocess.run([PROGRAM, "predict", "--input", "both.nii.gz", "--label_map", "map.nii.gz", "--tta",
                               "--slicer_progress", "runs/tiny"], check=True, capture_output=True, text=True)
        self.assertIn("<filter-progress>0.9</filter-progress>", done.stdout)
        self.assertEqual(done.stderr, "")  # Slicer shows stderr as errors
        for name in ("progress", "name", "start", "end"):  # Slicer searches the output for tags like this
            done.stdout = re.sub(f"<filter-{name}>[^<]*</filter-{name}>\\s*", "", done.stdout)
        self.assertEqual(done.stdout, "")
        labels = numpy.asarray(nibabel.load("map.nii.gz").dataobj).T
        network = voxswap.Network("runs/tiny", mirror=True)
        self.assertTrue(numpy.array_equal(labels, network.predict(image, axes="zyx", affine=affine)))
        described = subprocess.run([PROGRAM, "predict", "--xml"], check=True, capture_output=True, text=True).stdout
        flags = {flag.text for flag in ElementTree.fromstring(described).iter("longflag")}
        self.assertLessEqual({"--input", "--label_map"}, flags)
        for flag in flags:  # accepted by Slicer's parser
            self.assertRegex(flag, "^--[A-Za-z_][A-Za-z0-9_]*$")

    def test_the_bids_app_labels_participants_and_measures_the_group(self):
        program("phantom", "--out", "bids", "--layout", "bids", "--cases", 2, "--size", "18,20,16",
                folder=self.folder)
        subjects = sorted(path.name for path in (self.folder / "bids").glob("sub-*"))
        program("bids", "bids", "derived", "participant", "--run", "runs/tiny", "--participant-label",
                subjects[1].removeprefix("sub-"), folder=self.folder)
        maps = list((self.folder / "derived").rglob("*_dseg.nii.gz"))
        self.assertEqual([path.name.split("_")[0] for path in maps], subjects[1:])
        refused = subprocess.run([PROGRAM, "bids", "bids", "derived", "participant", "--run", "runs/tiny",
                                  "--participant-label", "nobody"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 3)
        self.assertIn(f"no participant nobody. The first of 2 cases is {subjects[0]}", refused.stderr)
        program("bids", "bids", "derived", "group", folder=self.folder)
        table = pandas.read_csv("derived/group_volumes.tsv", sep="\t")
        image = nibabel.load(maps[0])
        voxel = numpy.prod(image.header.get_zooms())
        for _, row in table.iterrows():
            value = {"necrosis": 1, "oedema": 2, "enhancing": 4}[row["label"]]
            volume = float((numpy.asarray(image.dataobj) == value).sum() * voxel)
            self.assertAlmostEqual(row["volume_mm3"], volume, delta=1e-4 * volume)
        self.assertEqual(len(table), 3)

    def test_predicts_one_image_in_one_call_with_a_spacing(self):
        image, _ = self.case()
        labels, probabilities = voxswap.predict("runs/tiny", image, axes="zyx", spacing=(240 / 18, 240 / 20, 155 / 16))
        self.assertEqual(labels.shape, image.shape[1:])
        self.assertEqual(probabilities.shape, (3, *image.shape[1:]))

    def test_predicts_with_a_results_folder_of_nnunet(self):
        results = Path(__file__).parents[1] / "fixtures" / "nnunet_results"
        channels = [results / "imagesTs" / f"case_006_000{i}.nii.gz" for i in range(2)]
        labels, _ = voxswap.predict(results / "nnUNetTrainer__nnUNetPlans__3d_fullres", channels, quiet=True)
        expected = nibabel.load(results / "labels" / "case_006.nii.gz").get_fdata()
        self.assertGreater((labels.get_fdata() == expected).mean(), 0.999)

    def test_takes_every_kind_of_image_and_gives_the_label_map_as_the_same_kind(self):
        image, affine = self.case()
        network = voxswap.Network("runs/tiny", probabilities=True)
        labels, probabilities = network.predict(image, axes="zyx", affine=affine)
        found, of_outputs = network.predict(image.transpose(0, 3, 2, 1), axes="xyz", affine=affine)
        numpy.testing.assert_array_equal(found, labels.T)
        numpy.testing.assert_array_equal(of_outputs, probabilities.transpose(0, 3, 2, 1))
        both = nibabel.Nifti1Image(image.T, affine)
        nibabel.save(both, "both.nii.gz")
        for given in (self.files(), self.paths(), both, "both.nii.gz"):
            found, of_outputs = network.predict(given)
            numpy.testing.assert_array_equal(found.affine, affine)
            numpy.testing.assert_array_equal(numpy.asarray(found.dataobj), labels.T)
            numpy.testing.assert_array_equal(of_outputs, probabilities.transpose(0, 3, 2, 1))
        nameless = nibabel.Nifti1Image(image.T, None)
        nibabel.save(nameless, "nameless.nii.gz")
        program("predict", "runs/tiny", "--input", "nameless.nii.gz", "--out", "nameless_labels.nii.gz",
                folder=self.folder)
        numpy.testing.assert_array_equal(numpy.asarray(network.predict("nameless.nii.gz")[0].dataobj),
                                         numpy.asarray(nibabel.load("nameless_labels.nii.gz").dataobj))
        with self.assertRaisesRegex(ValueError, "found 5"):
            network.predict(nibabel.Nifti1Image(image.T[..., None], affine))
        with self.assertRaisesRegex(ValueError, "on different grids"):
            network.predict([self.files()[0], nibabel.Nifti1Image(image[1].T, numpy.eye(4))])
        with self.assertRaisesRegex(ValueError, "use voxswap predict"):
            network.predict("data")

    def test_takes_images_of_simpleitk_and_itk(self):
        image, affine = self.case()
        labels = voxswap.Network("runs/tiny").predict(image, axes="zyx", affine=affine)
        readers = []
        try:
            import SimpleITK
            readers.append((SimpleITK.ReadImage, SimpleITK.GetArrayFromImage))
        except ImportError:
            pass
        try:
            import itk
            readers.append((itk.imread, itk.array_from_image))
        except ImportError:
            pass
        if not readers:
            self.skipTest("neither SimpleITK nor ITK is installed")
        for read, array_of in readers:
            files = [read(path) for path in self.paths()]
            found = voxswap.Network("runs/tiny").predict(files)
            numpy.testing.assert_array_equal(array_of(found), labels)
            self.assertEqual(list(found.GetOrigin()), list(files[0].GetOrigin()))
            self.assertEqual(list(voxswap.evaluate(found, found, regions={"core": [1, 4]})["dice"]), [1.0])

    def test_evaluates_arrays_images_and_files(self):
        path = "data/BraTS2021_00001/BraTS2021_00001_seg.nii.gz"
        truth = nibabel.load(path)
        labels = numpy.asarray(truth.dataobj)
        changed = labels.copy()
        changed[labels == 1] = 2
        other = nibabel.Nifti1Image(changed, truth.affine)
        tables = [voxswap.evaluate(truth, other), voxswap.evaluate(path, other),
                  voxswap.evaluate(labels, changed, axes="xyz", affine=truth.affine),
                  voxswap.evaluate(labels.T, changed.T, axes="zyx", affine=truth.affine)]
        for table in tables:
            self.assertEqual(list(table["dice"]), list(tables[0]["dice"]))
        scores = dict(zip(tables[0]["region"], tables[0]["dice"]))
        self.assertEqual((scores["label_1"], scores["label_4"]), (0, 1))
        several = voxswap.evaluate({"a": truth, "b": truth}, {"a": truth, "b": other}, regions={"core": [1, 4]})
        self.assertEqual(list(several["case"]), ["a", "b"])
        with self.assertRaisesRegex(ValueError, "does not say which of its axes is x"):
            voxswap.evaluate(labels, changed)
        with self.assertRaisesRegex(ValueError, "whole numbers"):
            voxswap.evaluate(labels + 0.5, changed, axes="xyz")

    def test_is_quiet_when_asked(self):
        code = ("import voxswap, sys; quiet = sys.argv[1] == 'quiet'; "
                "voxswap.run('tiny.yaml', ['output.dir=runs/' + sys.argv[1], 'training.epochs=1'], quiet=quiet); "
                "voxswap.predict('runs/' + sys.argv[1], %r, quiet=quiet)" % self.paths())
        for how in ("quiet", "loud"):
            done = subprocess.run([sys.executable, "-c", code, how], check=True, capture_output=True, text=True)
            self.assertEqual("" == done.stderr, how == "quiet", done.stderr)

    def test_the_examples_of_the_page_run(self):
        page = (Path(__file__).parents[2] / "docs/how_to/python.md").read_text()
        names = {"affine": self.case()[1], "truth": "truth.nii.gz"}
        nibabel.save(nibabel.Nifti1Image(self.case()[0].T, names["affine"]), "scan.nii.gz")
        shutil.copy("data/BraTS2021_00001/BraTS2021_00001_seg.nii.gz", "truth.nii.gz")
        names["array"] = self.case()[0]
        shutil.copy("tiny.yaml", "study.yaml")
        for block in re.findall("```python\n(.*?)```", page, re.DOTALL):
            exec(compile(block.replace("training.epochs=80", "training.epochs=1"), "python.md", "exec"), names)

    def test_refuses_what_the_program_refuses_with_its_words_and_exit_code(self):
        with self.assertRaises(voxswap.Error) as raised:
            voxswap.run("tiny.yaml", ["training.epoks=3"])
        self.assertEqual(raised.exception.exit_code, 2)
        self.assertIn("Did you mean 'training.epochs'", str(raised.exception))
        with self.assertRaisesRegex(voxswap.Error, "the network takes 2: flair, t1ce"):
            voxswap.Network("runs/tiny").predict(numpy.zeros((1, 8, 8, 8), numpy.float32), axes="zyx")
        image, affine = self.case()
        image[0, 3, 3, 3] = numpy.nan
        with self.assertRaises(voxswap.Error) as raised:
            voxswap.Network("runs/tiny").predict(image, axes="zyx", affine=affine)
        self.assertEqual(raised.exception.exit_code, 3)
        with self.assertRaisesRegex(ValueError, 'Give axes="zyx"'):
            voxswap.Network("runs/tiny").predict(image, affine=affine)
        with self.assertRaisesRegex(ValueError, "3 axes, found an array of 2 axes"):
            voxswap.Network("runs/tiny").predict(image[0, 0], axes="zyx")
        with self.assertRaisesRegex(ValueError, "are for arrays"):
            voxswap.Network("runs/tiny").predict(self.files(), axes="xyz")

    def test_plans_checks_and_evaluates(self):
        plan = voxswap.plan("tiny.yaml", ["memory.budget=4MiB"], estimate=True)
        self.assertLessEqual(plan["device_bytes"], 4 << 20)
        self.assertGreaterEqual(plan["step_seconds"], plan["lower_bound_seconds"])
        self.assertIn("instructions", plan["plan"])
        report = voxswap.check("data")
        self.assertEqual((report["layout"], len(report["cases"])), ("brats", 6))
        truth = self.folder / "truth"
        truth.mkdir()
        for path in (self.folder / "data").glob("*/*_seg.nii.gz"):
            os.link(path, truth / path.name)
        table = voxswap.evaluate(truth, truth, regions={"core": [1, 4]})
        self.assertEqual(list(table["dice"]), [1.0] * 6)

    def test_stops_at_ctrl_c_and_goes_on(self):
        def press():
            os.kill(os.getpid(), signal.SIGINT)
        changes = ["training.epochs=200", "output.dir=runs/long"]
        timer = threading.Timer(1.5, press)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            voxswap.run("tiny.yaml", changes)
        timer.join()
        done = []
        voxswap.run("tiny.yaml", ["training.epochs=2", "output.dir=runs/other"], on_epoch=done.append)
        self.assertEqual(len(done), 2)

    def test_other_threads_run_while_it_works(self):
        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(time.monotonic())
        ticker = threading.Thread(target=tick)
        ticker.start()
        began = time.monotonic()
        voxswap.run("tiny.yaml", ["output.dir=runs/beside"])
        ended = time.monotonic()
        done.set()
        ticker.join()
        during = [moment for moment in ticks if began < moment < ended]
        self.assertGreater(len(during), 10)  # none, if the call held the GIL

    def test_threads_share_a_network(self):
        network = voxswap.Network("runs/tiny", quiet=True)
        images = [self.case(name) for name in ("BraTS2021_00001", "BraTS2021_00004")] * 3
        alone = [network.predict(image, axes="zyx", affine=affine) for image, affine in images[:2]] * 3
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda one: network.predict(one[0], axes="zyx", affine=one[1]), images))
        for labels, expected in zip(found, alone, strict=True):
            self.assertTrue(numpy.array_equal(labels, expected))

    def test_says_that_a_forked_process_cannot_use_it(self):
        voxswap.Network("runs/tiny", quiet=True)
        child = os.fork()
        if child == 0:
            try:
                voxswap.Network("runs/tiny", quiet=True)
                os._exit(1)
            except voxswap.Error as error:
                os._exit(7 if "spawn" in str(error) else 2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_refuses_what_no_network_can_be(self):
        network = voxswap.Network("runs/tiny", quiet=True)
        with self.assertRaisesRegex(TypeError, "cannot be copied"):
            copy.copy(network)
        for options, message in (({"overlap": 1.0}, "overlap: expected 0 to 0.9, found 1"),
                                 ({"window": "half"}, "window: expected")):
            with self.assertRaisesRegex((ValueError, voxswap.Error), message):
                voxswap.Network("runs/tiny", quiet=True, **options)
        closed = voxswap.Network("runs/tiny", quiet=True)
        closed.__del__()
        with self.assertRaisesRegex(ValueError, "closed"):
            closed.predict(self.case()[0], axes="zyx")
        with self.assertRaisesRegex(voxswap.Error, "no run was given"):
            voxswap.Network([])
        image, affine = self.case()
        for window in (16, "whole"):
            voxswap.Network("runs/tiny", window=window, quiet=True).predict(image, axes="zyx", affine=affine)

    def test_takes_no_path_for_the_name_of_a_case(self):
        path = Path(self.folder, "kept.nii.gz").resolve()
        path.write_bytes(b"mine")
        labels = numpy.zeros((4, 4, 4), numpy.int16)
        for case in (str(path).removesuffix(".nii.gz"), "../kept", ".."):
            with self.assertRaisesRegex(ValueError, "expected a name, not a path"):
                voxswap.evaluate({case: labels}, {case: labels}, axes="zyx")
        self.assertEqual(path.read_bytes(), b"mine")

    def test_hands_over_contiguous_arrays_without_a_copy(self):
        image, affine = self.case()
        image = numpy.ascontiguousarray(image)
        library = voxswap._library._library
        network = voxswap.Network("runs/tiny")
        handed = []
        predict = library.voxswap_predict
        with mock.patch.object(library, "voxswap_predict", lambda *given: handed.append(given) or predict(*given)):
            labels = network.predict(image, axes="zyx", affine=affine)
            network.predict(image[:, ::-1], axes="zyx", affine=affine)
        self.assertEqual(handed[0][1], image.ctypes.data)
        self.assertEqual(handed[0][4], labels.ctypes.data)
        self.assertNotEqual(handed[1][1], image[:, ::-1].ctypes.data)

    def test_an_error_in_the_callback_ends_the_run_with_it(self):
        def fail(_):
            raise LookupError("enough")
        with self.assertRaisesRegex(LookupError, "enough"):
            voxswap.run("tiny.yaml", ["output.dir=runs/failing"], on_epoch=fail)

    def test_the_notebook_runs(self):
        cells = json.loads((EXAMPLES / "predict.ipynb").read_text())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        code = code.replace('"my_run"', '"runs/tiny"').replace('"my_case"', '"data/BraTS2021_00001"')
        import matplotlib
        matplotlib.use("Agg")
        exec(compile(code, "predict.ipynb", "exec"), {})
        self.assertTrue((self.folder / "labels.nii.gz").exists())


if __name__ == "__main__":
    unittest.main()
