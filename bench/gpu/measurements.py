"""Measurements to make on a GPU, most valuable first: items of several cells. A cell is one row of study.csv.

tests/gpu_check --part study measures all of them, gpu_check --next those without a row in bench/results (results.py),
and bench/gpu/ledger.md lists both. The study uses tf32, whose activations have the size of f32.
"""
import dataclasses

STUDY_SECONDS = 520  # for all items together; the sum of their limits is slightly larger
COLUMNS = ["date", "commit", "kernels", "device", "item", "cell", "status", "program", "precision", "side", "planner", "budget_gib",
           "step_seconds", "predicted_seconds", "bound_seconds", "compute_seconds", "utilization", "stall_seconds", "to_host_gbps",
           "to_device_gbps", "out_gb", "in_gb", "recomputed_nodes", "peak_gib", "host_gib", "epoch_seconds", "wait_seconds",
           "device_busy", "cpu_seconds", "wall_seconds", "note"]
NNUNET = ["network.name=plain_unet", "network.base_filters=32", "network.depth=6", "network.max_filters=320",
          "training.batch_size=2", "training.loss=dice_cross_entropy"]


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    kind: str  # function of tests/gpu_checks/study.py that measures it
    side: int = 0
    precision: str = ""
    planner: str = ""
    share: float = 0  # budget as a share of the arena of `within`; 0: no budget
    within: str = ""  # the cell "ITEM: NAME" that defines the arena
    keys: tuple = ()  # keys of the experiment, or arguments of another program
    limit: float = 30  # seconds


@dataclasses.dataclass(frozen=True)
class Item:
    name: str
    meaning: str
    limit: float  # seconds, for all its cells
    cells: list
    optional: bool = False  # a missing tool (PyTorch, mpirun, NVIDIA's) is no failure


@dataclasses.dataclass(frozen=True)
class Sizes:
    step: int = 128
    study: tuple = (144, 192, 256)
    shares: tuple = (3 / 4, 1 / 2, 1 / 4, 1 / 8)
    nnunet: tuple = tuple(NNUNET)
    precisions: tuple = ("bf16", "f16", "tf32", "f32")
    threads: tuple = (1, 8, 15)
    links: dict = dataclasses.field(default_factory=lambda: {"pcie3": "12GB/s", "pcie5": "50GB/s"})
    bits: int = 64
    bits_steps: int = 1000


def bench(name, side, precision, planner="keep", **more):
    return Cell(name, "bench", side, precision, planner, **more)


def items(sizes=Sizes()):
    """Returns all items; smaller `sizes` are for rehearsals on the emulated GPU."""
    first, middle, last = sizes.study
    fits, planners = f"planners: {first}^3, keep", ("hybrid", "tflms", "lms-threshold", "checkpoint")

    def overhead(side):
        everything = fits if side == first else f"overhead: {side}^3, keep"
        cells = [] if side == first else [bench(f"{side}^3, keep", side, "tf32")]
        return cells + [bench(f"{side}^3, {share:g} of the memory", side, "tf32", "hybrid", share=share, within=everything)
                        for share in sizes.shares]

    return [
        Item("limits", "what the card reaches at most", 25, [Cell("limits", "limits")], optional=True),
        Item("steps", "training steps that keep everything", 60,
             [bench(f"isensee2017, {sizes.step}^3, {precision}", sizes.step, precision) for precision in sizes.precisions]
             + [bench(f"nnU-Net's plain_unet, {sizes.step}^3, batch 2, bf16", sizes.step, "bf16", keys=sizes.nnunet)]),
        Item("hippocampus", "20 epochs of 160 cases of the size of the Decathlon's hippocampus", 60,
             [Cell("20 epochs", "hippocampus", limit=60)]),
        Item("epochs", "epochs of 24 cases of 240 x 240 x 155 voxels and four channels at 128^3, bf16", 150,
             [Cell("the cases, prepared", "phantoms", limit=60)]
             + [Cell(f"nnunet augmentation, {counted(threads)}", "epochs", keys=("training.augment=nnunet", f"training.loader_threads={threads}"))
                for threads in sizes.threads]
             + [Cell("no augmentation, 15 loader threads", "epochs", keys=("training.augment.symmetries=false", "training.loader_threads=15"))]),
        Item("planners", f"planners at {middle}^3 within the memory that {first}^3 takes, tf32", 75,
             [bench(f"{first}^3, keep", first, "tf32")]
             + [bench(planner, middle, "tf32", planner, share=1, within=fits) for planner in planners]),
        Item("link", f"the same over imitated links", 75,
             [bench(f"{link}, {planner}", middle, "tf32", planner, share=1, within=fits,
                    keys=(f"memory.link={{to_host: {rate}, to_device: {rate}}}",))
              for link, rate in sizes.links.items() for planner in planners[:3]]),
        Item("overhead", "steps in less and less memory, tf32", 160, [cell for side in sizes.study for cell in overhead(side)]),
        Item("sanitizers", "NVIDIA's compute-sanitizer on our own kernels", 75,
             [Cell(tool, "sanitizer", limit=25) for tool in ("memcheck", "initcheck", "racecheck")], optional=True),
        Item("bits", "the same bits with graphs as with single launches while copies run", 60,
             [Cell(f"{sizes.bits_steps} steps beside copies", "same_bits", sizes.bits, "bf16", limit=60)]),
        Item("ranks", "two ranks on this card that swap have the losses of ranks that do not", 45,
             [Cell("two ranks, shared volumes", "ranks", limit=45)], optional=True),
        Item("pytorch", "PyTorch's steps of the same networks", 150,
             [Cell(f"isensee2017, {sizes.step}^3, bf16, {mode}", "pytorch", sizes.step, "bf16", keys=("isensee2017", 1, mode), limit=45)
              for mode in ("eager", "compile")]
             + [Cell(f"nnU-Net's plain_unet, {sizes.step}^3, batch 2, bf16, {mode}", "pytorch", sizes.step, "bf16",
                     keys=("plain_unet", 2, mode), limit=60) for mode in ("eager", "compile")], optional=True),
        # Last, because a driver that keeps migrating pages would block the GPU.
        Item("unified", f"{middle}^3 within the memory that {first}^3 takes, the driver moving pages, tf32", 30,
             [bench("unified", middle, "tf32", "unified", share=1, within=fits)]),
    ]


def counted(threads):
    return "1 loader thread" if threads == 1 else f"{threads} loader threads"
