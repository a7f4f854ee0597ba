// What runs a graph: kernels for nodes, memory, streams and events. The layers above see nothing else of a
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// What changes from step to step.
struct StepContext {
  std::uint64_t seed = 0;  // of the run; keys random numbers together with `step`
  std::int64_t step = 1;   // 1 for the first
  double learning_rate = 0;
};

struct KernelArguments {
  std::span<void*const> inputs, outputs, updates;  // in the node's order, 64-byte aligned
  void* workspace = nullptr;                       // workspace_bytes(), 64-byte aligned
  const StepContext* context = nullptr;
};

// A node made ready to run. It allocates nothing when it runs and gives the same bits for the same inputs.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual std::string implementation() const { return ""; }  // which library routine was picked, for people
  virtual void run(
      const KernelArguments& arguments) = 0;  // on a CPU: runs; on a GPU: enqueues on the current stream
};

class Memory {  // owns one block, 64-byte aligned or better
 public:
  virtual ~Memory() = default;
  virtual std::byte* data() = 0;
  virtual std::int64_t bytes() const = 0;
};

class Event {
 public:
  virtual ~Event() = default;
};

// Commands that run in order; different streams run at the same time unless events order them. Nothing here
// allocates after construction. What fails on a stream is thrown by the next synchronize().
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void launch(Kernel& kernel,
                      const KernelArguments& arguments) = 0;  // what the spans point to must stay until done
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void record(Event& event) = 0;  // the event happens when the commands before it are done
  virtual void wait(Event& event) = 0;    // later commands wait for its last record
  virtual void synchronize() = 0;         // the caller waits for everything
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;         // reference | onednn | cuda
  virtual std::string description() const = 0;  // for people: library version, instruction set
  virtual bool supports(ElementType type) const = 0;
  virtual ElementType fastest_type() const = 0;  // what precision: auto means here
  // Bytes of which the voxels of an image best take a multiple where convolutions read it: its few channels
  // get zeros behind them.
  virtual std::int64_t voxel_alignment() const { return 1; }
  // Whether weight gradients of that type are to be summed in blocks of planes (net/graph/sum_blocks.h): not
  // where a library does it, which takes longer for many blocks and does not promise the same bits anyway.
  virtual bool sums_in_blocks(ElementType) const { return true; }
  virtual std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) = 0;
  virtual std::unique_ptr<Memory> allocate(
      std::int64_t bytes) = 0;  // device memory; throws Exit::does_not_fit
  // Host memory for what leaves the device: reached by copies at full speed (pinned on a GPU), at a page's
  // boundary, and really taken when this returns. Throws Exit::does_not_fit.
  virtual std::unique_ptr<Memory> allocate_host(std::int64_t bytes) = 0;
  // Memory that device and host both reach and that moves between them by itself. Throws Exit::does_not_fit
  // rather than take more than the device has free, Exit::usage where there is no such memory.
  virtual std::unique_ptr<Memory> allocate_unified(std::int64_t bytes);
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // A stream whose commands run on the host, whatever the device: its kernels are host code and may block
  // (disk access, sleep) without holding up another stream. Its events order with those of make_stream().
  virtual std::unique_ptr<Stream> make_host_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  // Seconds between the last happenings of two events of any streams. REQUIRES: both have happened.
  virtual double elapsed(const Event& from, const Event& to) const = 0;
  virtual std::int64_t free_bytes() const = 0;       // of device memory, now (the cgroup's limit respected)
  virtual std::int64_t free_host_bytes() const = 0;  // of host memory, likewise
  virtual bool computes_on_host() const = 0;         // device memory is host memory: they share what is free
};

// How a device is to compute. What a backend does not have it ignores.
struct BackendOptions {
  int device = 0;              // of several, counted from 0
  bool deterministic = true;   // the same bits every time; always so on a CPU
  bool tensor_floats = false;  // f32 convolutions may round their factors to TF32 (10 bits of mantissa)
  bool tuned = true;           // of several routines the fastest, by timing them; false: the first
};

}  // namespace voxswap::net
