"""The parts of tests/gpu_check, most important first."""
import pathlib
import sys

from runner import Step
from settings import ROOT

from measurements import STUDY_SECONDS, items
from results import is_done, key_of, read_rows

HERE = ROOT / "tests" / "gpu_checks"


def child(settings, name, limit, *words, program="steps.py", **more):
    """Returns a step that runs steps.py or study.py."""
    return Step(name, limit, [sys.executable, HERE / program, settings.scratch + "/settings.json", *(words or [name])], **more)


def compare(settings, limit, parts, sides, *words):
    """Returns the command line of bench/compare_gpu.py for the time of the step."""
    return [sys.executable, "-u", ROOT / "bench/compare_gpu.py", "--program", settings.program("voxswap"), "--out", settings.out,
            "--seconds", str(max(limit * settings.patience - 4, 1)), "--steps", str(settings.steps), "--parts", *parts,
            "--sides", *map(str, sides), "--budget-gib", f"{settings.budget_gib:g}", "--host-gib", str(settings.host_gib),
            "--keys", f"network.base_filters={settings.filters}", f"network.depth={settings.depth}", *words]


def part_a(run, settings):
    """Correctness: the machine, the backend's contract, every operation, large volumes, reproducibility; node times."""
    run(child(settings, "device", 35))
    run(Step("contract", 45, [settings.program("test_net"), f"--gtest_filter={settings.contract}"]))
    run(*(Step(f"executor_{shard}", 100, [settings.program("test_swap"), f"--gtest_filter={settings.executor}"],
               env={"GTEST_TOTAL_SHARDS": "4", "GTEST_SHARD_INDEX": str(shard)}) for shard in range(4)),
        Step("same_bits", 100, [settings.program("same_bits"), *settings.network(), settings.bits_side, "bf16", settings.bits_steps,
                                settings.scratch, "cuda"], env={"VOXSWAP_POISON": "1"}, keep_stdout="a_same_bits.csv"))
    run(*(Step(f"conformance_{shard}", 80, [settings.program("test_conformance"), f"--gtest_filter={settings.conformance}"],
               env={"GTEST_TOTAL_SHARDS": "4", "GTEST_SHARD_INDEX": str(shard),
                    "VOXSWAP_FAILED_CASES": settings.scratch + "/kept/failed_cases"}) for shard in range(4)))
    engines = [settings.program("engine_times"), "--taken", "--filters", settings.filters, "--depth", settings.depth]
    run(Step("large_volumes", 45, [*engines, "--seconds", 40 * settings.patience, *settings.checked_sides],
             keep_stdout="a_large_volumes.csv"))
    # f32 in slabs selects engines that no other step uses; two of them are wrong there (convolution_plan.h).
    run(Step("f32_slabs", 25, [*engines, "--precision", "f32", "--slabs", settings.slab_planes, settings.bits_side],
             keep_stdout="a_f32_slabs.csv"))
    times = [settings.program("node_times"), *settings.network(), settings.nodes_side, "bf16", 5, "cuda"]
    run(Step("nodes_deterministic", 25, times, keep_stdout="a_nodes_deterministic.txt"))
    run(Step("nodes_fastest", 35, [*times, "fastest"], keep_stdout="a_nodes_fastest.txt"))


def part_b(run, settings):
    """Speed. Nothing else runs at the same time."""
    run(Step("engine_times", 110, [settings.program("engine_times"), "--filters", settings.filters, "--depth", settings.depth,
                                   "--seconds", 105 * settings.patience, *settings.first_sides], keep_stdout="b_engine_times.csv"))
    run(Step("steps", 340, compare(settings, 340, ["limits", "steps", "compile"], settings.first_sides)))
    run(Step("more_steps", 200, compare(settings, 200, ["steps", "compile"], settings.more_sides, "--append"), optional=True))


def part_c(run, settings):
    """Capabilities that other programs lack, profilers and sanitizers, and a whole run."""
    traces = ["--traces", settings.scratch + "/kept/traces"]
    run(Step("swapping", 140, compare(settings, 140, ["swapping"], settings.swapped_sides, "--append", *traces)))
    run(Step("largest", 110, compare(settings, 110, ["largest"], settings.swapped_sides[:1], "--append", "--most", str(settings.most_side),
                                     "--largest-gib", *(f"{gib:g}" for gib in settings.largest_gib))))
    run(Step("huge_convolution", 40, [settings.program("engine_times"), "--taken", "--most", 1, "--seconds", 35 * settings.patience, "--filters",
                                      settings.filters, "--depth", settings.depth, settings.huge_side],
             keep_stdout="c_huge_convolution.csv"))
    run(Step("cut_convolutions", 60, [settings.program("engine_times"), "--taken", "--slabs", settings.slabs, "--seconds", 55 * settings.patience,
                                      "--filters", settings.filters, "--depth", settings.depth, settings.huge_side],
             keep_stdout="c_cut_convolutions.csv"))
    for which in ("forward", "weight_gradient", "norm_gradient"):
        run(child(settings, f"ncu_{which}", 30, "ncu", which))
    run(child(settings, "memcheck", 40, "sanitize", "memcheck"))
    run(child(settings, "racecheck", 40, "sanitize", "racecheck"))
    run(child(settings, "f16", 25, "other_way", "training.precision=f16"))
    run(child(settings, "tf32", 25, "other_way", "training.precision=tf32"))
    run(child(settings, "unified", 30))
    run(child(settings, "whole_run", 90))


def part_study(run, settings):
    """Measures the rows missing from OUT/study.csv; --next: only those of settings.only."""
    there = {key_of(row) for row in read_rows(pathlib.Path(settings.out) / "study.csv") if is_done(row)}
    for item in items(settings.sizes()):
        keys = {f"{item.name}: {cell.name}" for cell in item.cells}
        wanted = keys & set(settings.only) if settings.only is not None else keys
        if wanted - there:
            run(child(settings, item.name, item.limit, item.name, program="study.py"))


PARTS = {"study": (part_study, STUDY_SECONDS), "a": (part_a, 235), "b": (part_b, 535), "c": (part_c, 535)}
