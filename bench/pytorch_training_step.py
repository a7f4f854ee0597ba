#!/usr/bin/env python3
"""The PyTorch reference for voxswap's training step: the same network, loss and optimiser. Prints lines of JSON.

    pytorch_training_step.py SIDE f32|bf16 STEPS contiguous|channels_last
        [--network isensee2017|plain_unet] [--batch N] [--device cuda] [--mode eager|compile|save_on_cpu|checkpoint]
        [--limit BYTES] [--more SIDE... | --largest-to SIDE]

Prints one line per cube that trained; exit code 4 if SIDE does not fit. --more: tries larger cubes up to the first that
does not fit. --largest-to: finds the largest cube from SIDE to this one by bisection in steps of 16, printed last.
--limit limits the GPU memory as counted by PyTorch's allocator.

Modes: eager; torch.compile of network and loss; saved activations in pinned host memory
(torch.autograd.graph.save_on_cpu); every level of the network recomputed in the backward pass
(torch.utils.checkpoint).
"""
import argparse
import contextlib
import gc
import json
import os
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, inputs, outputs, kernel=3, stride=1):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, kernel, stride, kernel // 2)
        self.norm = nn.InstanceNorm3d(outputs, affine=True)

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), 0.3, inplace=True)


class Isensee2017(nn.Module):
    def __init__(self, channels=4, labels=3, base=16, depth=5):
        super().__init__()
        width = [base * 2**level for level in range(depth)]
        self.inputs = nn.ModuleList(
            Block(channels if l == 0 else width[l - 1], width[l], 3, 1 if l == 0 else 2) for l in range(depth))
        self.context0 = nn.ModuleList(Block(w, w) for w in width)
        self.context1 = nn.ModuleList(Block(w, w) for w in width)
        self.drop = nn.Dropout3d(0.3)
        self.up = nn.ModuleList(Block(width[l + 1], width[l]) for l in range(depth - 1))
        self.localize0 = nn.ModuleList(Block(2 * width[l], width[l]) for l in range(depth - 1))
        self.localize1 = nn.ModuleList(Block(width[l], width[l], 1) for l in range(depth - 1))
        self.heads = nn.ModuleList(nn.Conv3d(width[l], labels, 1) for l in range(3))
        self.recompute = False  # recompute every level in the backward pass

    def encode(self, x, level):
        x = self.inputs[level](x)
        return x + self.context1[level](self.drop(self.context0[level](x)))

    def decode(self, x, skip, level):
        x = self.up[level](F.interpolate(x, scale_factor=2, mode="nearest"))
        return self.localize1[level](self.localize0[level](torch.cat([skip, x], 1)))

    def step(self, function, *arguments):
        return checkpoint(function, *arguments, use_reentrant=False) if self.recompute else function(*arguments)

    def forward(self, x):
        skips = []
        for level in range(len(self.inputs)):
            x = self.step(self.encode, x, level)
            skips.append(x)
        out = None
        for level in reversed(range(len(self.up))):
            x = self.step(self.decode, x, skips[level], level)
            if level < 3:
                head = self.heads[level](x)
                out = head if out is None else F.interpolate(out, scale_factor=2, mode="nearest") + head
        return torch.sigmoid(out.float())


class PlainUNet(nn.Module):
    """nnU-Net's network for whole-brain volumes: 6 levels, 32 to 320 channels, two convolutions per level."""

    def __init__(self, channels=4, labels=3, width=(32, 64, 128, 256, 320, 320)):
        super().__init__()
        self.recompute = False

        def stage(inputs, outputs, stride=1):
            return nn.Sequential(*(layer for i in range(2) for layer in (
                nn.Conv3d(outputs if i else inputs, outputs, 3, 1 if i else stride, 1), nn.InstanceNorm3d(outputs, affine=True),
                nn.LeakyReLU(0.01, inplace=True))))

        self.down = nn.ModuleList(stage(width[l - 1] if l else channels, width[l], 2 if l else 1) for l in range(len(width)))
        self.up = nn.ModuleList(nn.ConvTranspose3d(width[l + 1], width[l], 2, 2) for l in range(len(width) - 1))
        self.decode = nn.ModuleList(stage(2 * width[l], width[l]) for l in range(len(width) - 1))
        self.head = nn.Conv3d(width[0], labels, 1)

    def step(self, function, *arguments):
        return checkpoint(function, *arguments, use_reentrant=False) if self.recompute else function(*arguments)

    def forward(self, x):
        skips = []
        for stage in self.down:
            x = self.step(stage, x)
            skips.append(x)
        for level in reversed(range(len(self.up))):
            x = self.step(self.decode[level], torch.cat([skips[level], self.up[level](x)], 1))
        return torch.sigmoid(self.head(x).float())


NETWORKS = {"isensee2017": Isensee2017, "plain_unet": PlainUNet}


def loss_of(y, t, e=1e-5):
    axes = (2, 3, 4)
    return -(2 * ((t * y).sum(axes) + e / 2) / (t.sum(axes) + y.sum(axes) + e)).mean()


class Device:
    """Timer and memory counters of the CPU or a GPU."""

    def __init__(self, name, limit):
        self.name, self.cuda = name, name == "cuda"
        if self.cuda:
            torch.cuda.init()  # enables memory counters, and reports why if there is no GPU
        if self.cuda and limit:
            torch.cuda.set_per_process_memory_fraction(min(1.0, limit / torch.cuda.get_device_properties(0).total_memory))
        torch.backends.cudnn.benchmark = True

    def now(self):
        if self.cuda:
            torch.cuda.synchronize()
        return time.perf_counter()

    def peak_bytes(self):
        if self.cuda:
            return torch.cuda.max_memory_allocated()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def reserved_bytes(self):
        return torch.cuda.max_memory_reserved() if self.cuda else 0

    def forget(self):
        gc.collect()
        if self.cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def text(self):
        return torch.cuda.get_device_name() if self.cuda else f"CPU, {torch.get_num_threads()} threads"


def train(side, options, device):
    """Returns the median seconds of the steps after the first two (one on a CPU), and the last loss."""
    torch.manual_seed(1)
    memory_format = torch.channels_last_3d if options.layout == "channels_last" else torch.contiguous_format
    net = NETWORKS[options.network]().to(device.name, memory_format=memory_format)
    assert options.network != "isensee2017" or sum(p.numel() for p in net.parameters()) == 8269561
    net.recompute = options.mode == "checkpoint"
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4, eps=1e-7, **({"fused": True} if device.cuda else {}))
    x = (2 * torch.rand(options.batch, 4, side, side, side, device=device.name) - 1).to(memory_format=memory_format)
    t = F.one_hot(torch.randint(0, 4, (options.batch, side, side, side), device=device.name), 4)[..., 1:]
    t = t.permute(0, 4, 1, 2, 3).float().contiguous()

    def forward(x, t):
        y = net(x)
        loss = loss_of(y, t)
        if options.network == "plain_unet":  # nnU-Net's loss includes cross entropy
            with torch.autocast(device.name, enabled=False):
                loss = loss + F.binary_cross_entropy(y.float(), t)
        return loss

    if options.mode == "compile":
        forward = torch.compile(forward, dynamic=False)
    device.forget()  # exclude the memory used to create the inputs
    seconds = []
    for step in range(options.steps + (2 if device.cuda else 1)):
        start = device.now()
        optimizer.zero_grad(set_to_none=True)
        saved = torch.autograd.graph.save_on_cpu(pin_memory=True) if options.mode == "save_on_cpu" else contextlib.nullcontext()
        with saved, torch.autocast(device.name, dtype=torch.bfloat16, enabled=options.precision == "bf16"):
            loss = forward(x, t)
        loss.backward()
        optimizer.step()
        seconds.append(device.now() - start)
    seconds = sorted(seconds[-options.steps:])
    return seconds[len(seconds) // 2], loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", type=int)
    parser.add_argument("precision", choices=["f32", "bf16"])
    parser.add_argument("steps", type=int)
    parser.add_argument("layout", choices=["contiguous", "channels_last"])
    parser.add_argument("--network", choices=NETWORKS, default="isensee2017")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--mode", choices=["eager", "compile", "save_on_cpu", "checkpoint"], default="eager")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--more", type=int, nargs="+", default=[])
    parser.add_argument("--largest-to", type=int)
    options = parser.parse_args()
    if options.device == "cpu":
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    device = Device(options.device, options.limit)
    before = device.peak_bytes()

    def trains(side):
        device.forget()
        try:
            seconds, loss = train(side, options, device)
        except RuntimeError as error:  # includes torch.cuda.OutOfMemoryError and cuDNN's own messages
            if not device.cuda:
                raise
            print(f"{side}^3: {str(error).splitlines()[0]}", file=sys.stderr)
            return False
        print(json.dumps({"side": side, "precision": options.precision, "layout": options.layout, "mode": options.mode,
                          "seconds": seconds, "peak_bytes": device.peak_bytes(), "reserved_bytes": device.reserved_bytes(),
                          "before_bytes": before, "threads": torch.get_num_threads(), "device": device.text(),
                          "version": torch.__version__, "loss": loss}), flush=True)
        return True

    if not trains(options.side):
        sys.exit(4)
    for side in options.more:
        if not trains(side):
            break
    good, bad = options.side, (options.largest_to or 0) + 16
    while bad - good > 16:
        middle = good + (bad - good) // 32 * 16
        good, bad = (middle, bad) if trains(middle) else (good, middle)


if __name__ == "__main__":
    main()
