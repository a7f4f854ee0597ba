#!/usr/bin/env python3
"""Measures the maximum rates of this GPU with PyTorch, printed as a line of JSON: the reference for step times.

    gpu_limits.py [--device cpu]     (cpu: a trial run of this script, on small sizes)

matrix_tflops: an 8192^3 bf16 matrix product on random data. memory_gbps: a copy within the device, bytes read plus
written. to_host_gbps, to_device_gbps: copies to and from pinned host memory, one at a time; both_gbps: each direction
while both run. All are medians of ten.
"""
import argparse
import json
import time

import torch


def seconds_of(work, device):
    """Returns the median of ten runs, by the device's clock."""
    times = []
    work()
    for _ in range(10):
        if device == "cuda":
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            work()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / 1e3)
        else:
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def both_ways(streams, copies):
    """Runs a copy on each stream; the current stream waits for both."""
    current = torch.cuda.current_stream()
    for stream, copy in zip(streams, copies):
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            copy()
    for stream in streams:
        current.wait_stream(stream)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    device = parser.parse_args().device
    on_gpu = device == "cuda"
    side, block = (8192, 1 << 30) if on_gpu else (256, 1 << 24)

    a, b = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    matrix = 2 * side**3 / seconds_of(lambda: torch.mm(a, b), device)
    x = torch.empty(4 * block, dtype=torch.uint8, device=device)
    y = torch.empty_like(x)
    memory = 2 * x.numel() / seconds_of(lambda: y.copy_(x), device)
    pinned = [torch.ones(block, dtype=torch.uint8, pin_memory=on_gpu) for _ in range(2)]
    to_host = lambda: pinned[0].copy_(x[:block], non_blocking=True)
    to_device = lambda: y[:block].copy_(pinned[1], non_blocking=True)
    result = {"device": torch.cuda.get_device_name() if on_gpu else "cpu", "pytorch": torch.__version__,
              "matrix_tflops": matrix / 1e12, "memory_gbps": memory / 1e9,
              "to_host_gbps": block / seconds_of(to_host, device) / 1e9,
              "to_device_gbps": block / seconds_of(to_device, device) / 1e9}
    if on_gpu:
        streams = [torch.cuda.Stream(), torch.cuda.Stream()]
        result["both_gbps"] = block / seconds_of(lambda: both_ways(streams, [to_host, to_device]), device) / 1e9
        result["memory_bytes"] = torch.cuda.get_device_properties(0).total_memory
        result["cudnn"] = torch.backends.cudnn.version()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
