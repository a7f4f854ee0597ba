#!/usr/bin/env python3
"""The peer of training_step.cpp: the same network, loss and optimiser in PyTorch, one line of JSON.

    pytorch_training_step.py SIDE f32|bf16 STEPS contiguous|channels_last
"""
import json
import os
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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

    def forward(self, x):
        skips = []
        for level, enter in enumerate(self.inputs):
            x = enter(x)
            x = x + self.context1[level](self.drop(self.context0[level](x)))
            skips.append(x)
        out = None
        for level in reversed(range(len(self.up))):
            x = self.up[level](F.interpolate(x, scale_factor=2, mode="nearest"))
            x = self.localize1[level](self.localize0[level](torch.cat([skips[level], x], 1)))
            if level < 3:
                head = self.heads[level](x)
                out = head if out is None else F.interpolate(out, scale_factor=2, mode="nearest") + head
        return torch.sigmoid(out.float())


def loss_of(y, t, e=1e-5):
    axes = (2, 3, 4)
    return -(2 * ((t * y).sum(axes) + e / 2) / (t.sum(axes) + y.sum(axes) + e)).mean()


def main():
    side, precision, steps, layout = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    before = peak_bytes()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(1)
    memory_format = torch.channels_last_3d if layout == "channels_last" else torch.contiguous_format
    net = Isensee2017().to(memory_format=memory_format)
    assert sum(p.numel() for p in net.parameters()) == 8269561
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4, eps=1e-7)
    x = (2 * torch.rand(1, 4, side, side, side) - 1).to(memory_format=memory_format)
    t = F.one_hot(torch.randint(0, 4, (1, side, side, side)), 4)[..., 1:].permute(0, 4, 1, 2, 3).float().contiguous()
    seconds = []
    for step in range(steps + 1):  # the first is a warm-up
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            y = net(x)
        loss = loss_of(y, t)
        loss.backward()
        optimizer.step()
        if step > 0:
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"side": side, "precision": precision, "layout": layout, "seconds": sorted(seconds)[len(seconds) // 2],
                      "peak_bytes": peak_bytes(), "before_bytes": before, "threads": torch.get_num_threads(),
                      "version": torch.__version__, "loss": loss.item()}))


if __name__ == "__main__":
    main()
