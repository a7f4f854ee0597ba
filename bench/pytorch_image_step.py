#!/usr/bin/env python3
"""Compares the training step of torchvision's image networks with `voxswap bench`, on the same cores in turns:
processor time and memory.

    bench/pytorch_image_step.py [--program build/release/bin/voxswap] [--networks resnet50 deeplabv3] [--sides 128 256]
                                [--batch 4] [--threads 2] [--rounds 3] [--steps 3] [--csv bench/results/FILE.csv]
    bench/pytorch_image_step.py --one resnet50 SIDE BATCH STEPS contiguous|channels_last     # PyTorch's, a line of JSON

Each measurement runs in its own process. `seconds` is the median wall time of its steps and includes the load of other
programs; `cpu_seconds` is the mean processor time per step. Waiting threads count as well, so one thread compares best
on a shared machine. Memory is the peak resident memory minus that before the first step (PyTorch), or the arena
(voxswap, which needs nothing else if everything is kept). Soft-max cross entropy over two classes, Adam, f32; deeplabv3
as in torchvision (output stride 8), without the auxiliary head.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENT = """name: step
data: {{root: none, modalities: [red, green, blue], labels: {labels}}}
preprocess: {{resolution: {side}}}
network: {{name: {network}, base_filters: 64{more}}}
training: {{precision: f32, loss: softmax_cross_entropy, batch_size: {batch}}}
memory: {{device: cpu, planner: keep}}
"""


def pytorch_step(network, side, batch, steps, layout, threads):
    import torch
    from torch.nn import functional
    from torchvision import models

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    if network == "deeplabv3":
        model = models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=2, aux_loss=False)
    else:
        model = getattr(models, network)(weights=None, num_classes=2)
    memory_format = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    model = model.to(memory_format=memory_format).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, eps=1e-7)
    image = (2 * torch.rand(batch, 3, side, side) - 1).to(memory_format=memory_format)
    target = torch.randint(0, 2, (batch, side, side) if network == "deeplabv3" else (batch,))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds, cpu_seconds = [], []
    for _ in range(steps + 1):  # the first is a warm-up step
        start, cpu = time.perf_counter(), time.process_time()
        optimizer.zero_grad(set_to_none=True)
        output = model(image)
        output = output["out"] if isinstance(output, dict) else output
        functional.cross_entropy(output, target).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu)
    return {"seconds": statistics.median(seconds[1:]), "cpu_seconds": statistics.mean(cpu_seconds[1:]),
            "version": torch.__version__,
            "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before}


def run(command, threads):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def voxswap_step(program, folder, network, side, batch, steps, threads):
    file = pathlib.Path(folder) / "step.yaml"
    of_voxels = network == "deeplabv3"  # for segmentation, the background is the second class
    file.write_text(EXPERIMENT.format(labels="{one: 1}" if of_voxels else "{one: 1, other: 2}", side=side, network=network,
                                      batch=batch, more=', output_stride: 8, dropout: 0.5' if of_voxels else ""))
    result = run([program, "bench", str(file), "--steps", str(steps), "--json", "data.cache=none", "--quiet"], threads)
    return {"seconds": result["step_seconds_median"], "cpu_seconds": result["step_cpu_seconds_mean"],
            "bytes": result["arena_bytes"]}


def compare(options, folder, network, side):
    ours, peers = [], {"contiguous": [], "channels_last": []}
    for _ in range(options.rounds):
        ours.append(voxswap_step(options.program, folder, network, side, options.batch, options.steps, options.threads))
        for layout, runs in peers.items():
            runs.append(run([sys.executable, __file__, "--threads", str(options.threads), "--one", network, str(side),
                             str(options.batch), str(options.steps), layout], options.threads))
    median = {layout: statistics.median(r["cpu_seconds"] for r in runs) for layout, runs in peers.items()}
    best = min(median, key=median.get)
    cpu = statistics.median(r["cpu_seconds"] for r in ours)
    return {"network": network, "side": side, "batch": options.batch, "threads": options.threads,
            "voxswap_cpu_seconds": round(cpu, 4), "pytorch_cpu_seconds": round(median[best], 4), "pytorch_layout": best,
            "cpu_ratio": round(median[best] / cpu, 3),
            "voxswap_seconds": round(statistics.median(r["seconds"] for r in ours), 4),
            "pytorch_seconds": round(statistics.median(r["seconds"] for r in peers[best]), 4),
            "voxswap_mib": max(r["bytes"] for r in ours) >> 20,
            "pytorch_mib": max(r["bytes"] for r in peers[best]) >> 20,
            "pytorch_version": peers[best][0]["version"], "load": round(os.getloadavg()[0], 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=5)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/voxswap"))
    parser.add_argument("--networks", nargs="+", default=["resnet50", "deeplabv3"])
    parser.add_argument("--sides", type=int, nargs="+", default=[128, 256])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()
    if options.one:
        network, side, batch, steps, layout = options.one
        print(json.dumps(pytorch_step(network, int(side), int(batch), int(steps), layout, options.threads)))
        return

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for network in options.networks:
            for side in options.sides:
                rows.append(compare(options, folder, network, side))
                print(rows[-1], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
