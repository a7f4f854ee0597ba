// An emulated GPU: the part of CUDA's runtime that the backend uses, on host threads.
//
// A stream is a thread that takes commands from a queue, some after a short random pause, so that the order
// of commands that no event orders varies. Where CUDA does not specify whether a call blocks, it blocks here:
// copies from and to unpinned memory, allocations and frees return only when all previous work is done. So a
// deadlock that is possible on some GPU happens here. Device memory has guards and is filled with NaN at
// first; a copy beyond an allocation is refused. After a kernel failed, all later calls report it, as in
// CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>

namespace voxswap::emulation {

// Enqueues a kernel's work on the stream. Without a stream it runs at once.
void enqueue(cudaStream_t stream, std::function<void()> work);

// Prevents kernels on streams from starting during its lifetime; copies continue.
class KernelsHeld {
 public:
  KernelsHeld();
  ~KernelsHeld();
  KernelsHeld(const KernelsHeld&) = delete;
  KernelsHeld& operator=(const KernelsHeld&) = delete;
};

// What the GPU has done so far.
struct Counts {
  std::atomic<std::int64_t> kernels_begun = 0;                    // on streams
  std::atomic<std::int64_t> bytes_copied = 0;                     // in all directions
  std::atomic<std::int64_t> bytes_copied_back = 0;                // from the device to the host
  std::atomic<std::int64_t> copies_across = 0, bytes_across = 0;  // between host and device
  std::atomic<std::int64_t> unpinned_copies = 0;                  // from or to unpinned host memory
};
const Counts& counts();

// The size of the GPU's memory.
constexpr std::int64_t device_bytes = std::int64_t{1} << 30;

// The number of launches of CUDA graphs.
std::int64_t graph_launches();

// Makes new graphs fail for lack of memory during its lifetime.
class GraphsRefused {
 public:
  GraphsRefused();
  ~GraphsRefused();
  GraphsRefused(const GraphsRefused&) = delete;
  GraphsRefused& operator=(const GraphsRefused&) = delete;
};

// Called before every launch of a kernel: CUDA loads its code at the first one.
cudaError_t load_kernel(const void* kernel, cudaStream_t stream);

// Overwrites a library's workspace with garbage, so that a tensor wrongly sharing it is detected.
void scribble(void* begin, std::int64_t bytes);

// Whether [begin, begin + bytes) is inside one allocation of device memory.
bool in_device_memory(const void* begin, std::int64_t bytes);

}  // namespace voxswap::emulation
