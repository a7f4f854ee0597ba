"""On what tests/gpu_check runs: the GPU of this machine, or the emulated one of a build, on which it is rehearsed with
the smallest sizes at which every step still does what it does on a GPU."""
import dataclasses
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Settings:
    emulated: bool
    programs: str
    scratch: str = ""
    out: str = ""
    bits_side: int = 64  # of the cubes
    bits_steps: int = 3
    slab_planes: int = 8  # of the cube of bits_side
    nodes_side: int = 128
    checked_sides: tuple = (256,)
    first_sides: tuple = (128, 256)
    more_sides: tuple = (192, 320, 384)
    swapped_sides: tuple = (256, 384)
    huge_side: int = 512
    pieces: str = "auto"
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
    patience: float = 1  # limits are this many times as long

    def program(self, name):
        return str(pathlib.Path(self.programs) / name)

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
                        swapped_sides=(8, 16), huge_side=16, pieces="4", largest_gib=(0.004,), budget_gib=1, host_gib=1, steps=1, most_side=16, run_cube=16, cases=4, epochs=1,
                        filters=2, depth=3, contract="*BackendContract*cuda*", executor="*SameBits*/cuda_unet3d", conformance="*conv3d_sum*__cuda_bf16")
    if not programs:
        bundled = ROOT / "bin"
        programs = str(bundled if (bundled / "voxswap").exists() else ROOT / "build/release/bin")
    return Settings(False, programs)
