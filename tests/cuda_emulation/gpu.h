// A GPU that is not there: CUDA's runtime as the backend uses it, on threads of the host.
//
// A stream is a thread that takes commands from a queue, some after a short pause of random length, so that
// what no event orders happens in another order every time. Where CUDA leaves open whether a call waits, here
// it does: copies from and to memory that is not pinned, and taking or giving back any memory, return only
// when everything before them is done. So what could hang on some GPU does hang here. Device memory lies
// between guards and holds NaN until it is written; a copy that begins or ends beside what was taken is
// refused. A kernel that fails is reported by all later calls, as CUDA does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace voxswap::emulation {

// Puts a kernel's work behind what is in the stream's queue. Without a stream it is done at once.
void enqueue(cudaStream_t stream, std::function<void()> work);

// While it lives no kernel on a stream begins; copies do.
class KernelsHeld {
 public:
  KernelsHeld();
  ~KernelsHeld();
  KernelsHeld(const KernelsHeld&) = delete;
  KernelsHeld& operator=(const KernelsHeld&) = delete;
};

// Kernels on streams that have begun so far, and bytes that copies have moved.
std::int64_t kernels_begun();
std::int64_t bytes_copied();

// How much memory the GPU has.
constexpr std::int64_t device_bytes = std::int64_t{1} << 30;

// How often a CUDA graph was launched so far.
std::int64_t graph_launches();

// While it lives the GPU has no memory for another graph.
class GraphsRefused {
 public:
  GraphsRefused();
  ~GraphsRefused();
  GraphsRefused(const GraphsRefused&) = delete;
  GraphsRefused& operator=(const GraphsRefused&) = delete;
};

// Called before every launch of a kernel: CUDA loads its code at the first.
cudaError_t load_kernel(const void* kernel, cudaStream_t stream);

// Copies so far from or to memory of the host that was not pinned.
std::int64_t unpinned_copies();

// Memory of the device that a library writes its temporaries to: garbage, so that it shows whom it belonged
// to.
void scribble(void* begin, std::int64_t bytes);

// Is [begin, begin + bytes) within one block of device memory that was taken?
bool in_device_memory(const void* begin, std::int64_t bytes);

}  // namespace voxswap::emulation
