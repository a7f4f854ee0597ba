"""Target of tests/gpu_check: the GPU of this machine, or a build's emulated GPU for rehearsals, with the smallest sizes
at which every step still exercises the same code."""
import dataclasses
import glob
import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

sys.path.insert(0, str(ROOT / "bench" / "gpu"))
from measurements import Sizes  # noqa: E402


@dataclasses.dataclass
class Settings:
    emulated: bool
    programs: str
    scratch: str = ""
    out: str = ""
    bits_side: int = 64  # cube side in voxels
    bits_steps: int = 3
    slab_planes: int = 8  # planes per slab of the cube of bits_side
    nodes_side: int = 128
    checked_sides: tuple = (256,)
    first_sides: tuple = (128, 256)
    more_sides: tuple = (192, 320, 384)
    swapped_sides: tuple = (256, 384)
    huge_side: int = 512
    slabs: str = "auto"
    largest_gib: tuple = (16, 32)
    budget_gib: float = 16
    host_gib: int = 64
    steps: int = 7
    most_side: int = 576
    run_cube: int = 32
    cases: int = 8
    epochs: int = 3
    filters: int = 16
    depth: int = 5
    contract: str = "*cuda*:CudaDevice.*"
    executor: str = "*cuda*"
    conformance: str = "*__cuda_*"
    study_steps: int = 10
    hippocampus_cases: int = 200  # a fifth is the validation split
    hippocampus_size: str = "36,50,36"
    hippocampus_epochs: int = 20
    hippocampus_keys: tuple = ()
    epoch_cases: int = 24
    epoch_size: str = "240,240,155"
    epoch_cube: int = 128
    rank_cases: int = 6
    rank_epochs: int = 2
    rank_threshold: str = "1MiB"
    only: list = None  # cells of the study, "ITEM: CELL"; None: all
    about: dict = None  # columns of every row: commit, digest of the kernels, device
    store: str = ""  # shared by calls on one machine: phantoms, prepared cases, chosen engines
    patience: float = 1  # factor on all time limits

    def program(self, name):
        return str(pathlib.Path(self.programs) / name)

    def sizes(self):
        """Returns the sizes of the study's cells."""
        if not self.emulated:
            return Sizes()
        return Sizes(step=8, study=(8, 12, 16), shares=(1 / 2,), precisions=("bf16", "tf32"), threads=(1,), links={"pcie3": "12GB/s"},
                     bits=8, bits_steps=4, nnunet=("network.name=plain_unet", "network.base_filters=2", "network.depth=3", "training.batch_size=2"))

    def pytorch_device(self):
        return "cpu" if self.emulated else "cuda"

    @staticmethod
    def tool(name):
        """Returns the path of an NVIDIA tool, or None if it is not installed."""
        found = glob.glob(f"/usr/local/cuda*/bin/{name}") + glob.glob(f"/opt/nvidia/nsight-compute/*/{name}")
        return shutil.which(name) or next(iter(sorted(found)), None)

    def network(self):
        return ["--network", f"{self.filters},{self.depth}"]

    def save(self):
        path = pathlib.Path(self.scratch) / "settings.json"
        path.write_text(json.dumps(dataclasses.asdict(self)))
        return str(path)

    @staticmethod
    def load(path):
        return Settings(**json.loads(pathlib.Path(path).read_text()))


def settings_for(device, programs):
    if device == "emulated":
        programs = programs or str(ROOT / "build/release/bin/emulated_gpu")
        return Settings(True, programs, bits_side=8, bits_steps=2, slab_planes=4, nodes_side=8, checked_sides=(8,), first_sides=(8,), more_sides=(16,),
                        swapped_sides=(8, 16), huge_side=16, slabs="4", largest_gib=(0.004,), budget_gib=1, host_gib=1, steps=1, most_side=16, run_cube=16, cases=4, epochs=1,
                        filters=2, depth=2, contract="*BackendContract*cuda*", executor="*SameBits*/cuda_unet3d", conformance="*conv3d_sum*__cuda_bf16",
                        study_steps=2, hippocampus_cases=5, hippocampus_size="20", hippocampus_epochs=2, rank_cases=3, rank_epochs=1, rank_threshold="4KiB", epoch_cases=5, epoch_size="24,24,20", epoch_cube=16,
                        hippocampus_keys=("preprocess.resolution=16", "training.patch=[12, 16, 12]", "network.base_filters=2", "network.depth=3",
                                          "training.augment.preset=none"))
    if not programs:
        bundled = ROOT / "bin"
        programs = str(bundled if (bundled / "voxswap").exists() else ROOT / "build/release/bin")
    return Settings(False, programs)
