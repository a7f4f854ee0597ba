// Interface of a backend, which runs a graph: kernels for nodes, memory, streams and events. Layers above
// access a device only through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Values that change from step to step.
struct StepContext {
  std::uint64_t seed = 0;  // of the run; with `step`, the key of random numbers
  std::int64_t step = 1;   // 1 for the first
  double learning_rate = 0;
};

struct KernelArguments {
  std::span<void*const> inputs, outputs, updates;  // in the node's order, 64-byte aligned
  void* workspace = nullptr;                       // workspace_bytes(), 64-byte aligned
  const StepContext* context = nullptr;
};

// A node that is ready to run. Running it allocates nothing and is deterministic: same inputs, same bits.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual std::string implementation() const { return ""; }  // the library routine chosen, for people
  virtual void run(const KernelArguments& arguments) = 0;    // CPU: runs; GPU: enqueues on the current stream
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

// Commands that run in order. Different streams run concurrently unless events order them. Nothing here
// allocates after construction. An error on a stream is thrown by the next synchronize().
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void launch(
      Kernel& kernel,
      const KernelArguments& arguments) = 0;  // memory of the spans must stay valid until it is done
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void record(Event& event) = 0;  // the event occurs when all earlier commands are done
  virtual void wait(Event& event) = 0;    // later commands wait for its last record
  virtual void synchronize() = 0;         // blocks until everything is done
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;         // reference | onednn | cuda
  virtual std::string description() const = 0;  // for people: library version, instruction set
  virtual bool supports(ElementType type) const = 0;
  virtual ElementType fastest_type() const = 0;  // the type that precision: auto chooses
  // Convolutions read image voxels fastest if they are padded with zero channels to a multiple of this many
  // bytes.
  virtual std::int64_t voxel_alignment() const { return 1; }
  // Whether weight gradients of this type are summed in blocks of planes (net/graph/window.h). False if a
  // library computes them: many blocks are slower there, and it does not guarantee identical bits anyway.
  virtual bool sums_in_blocks(ElementType) const { return true; }
  virtual std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) = 0;
  virtual std::unique_ptr<Memory> allocate(
      std::int64_t bytes) = 0;  // device memory; throws Exit::does_not_fit
  // Host memory for swapping out: copies run at full speed (pinned on a GPU), it is page-aligned, and its
  // pages are committed on return. Throws Exit::does_not_fit.
  virtual std::unique_ptr<Memory> allocate_host(std::int64_t bytes) = 0;
  // Managed memory, whose pages the driver moves between device and host. While it lives, other free device
  // memory is held back, so that the device has room for about `resident_bytes` of it. Throws
  // Exit::does_not_fit rather than exceed the free device memory, and Exit::usage if the device has no
  // managed memory.
  virtual std::unique_ptr<Memory> allocate_unified(std::int64_t bytes, std::int64_t resident_bytes);
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // A stream whose commands run on the host, for any device. Its kernels are host code and may block (disk
  // access, sleep) without delaying other streams. Events order it with streams of make_stream().
  virtual std::unique_ptr<Stream> make_host_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  // Seconds between the last occurrences of two events, of any streams. REQUIRES: both have occurred.
  virtual double elapsed(const Event& from, const Event& to) const = 0;
  virtual std::int64_t free_bytes() const = 0;       // free device memory now, within the cgroup's limit
  virtual std::int64_t free_host_bytes() const = 0;  // free host memory, likewise
  virtual bool computes_on_host() const = 0;  // device memory is host memory, so both share the free memory
};

// Options of a device. Backends ignore the ones that they do not support.
struct BackendOptions {
  int device = 0;              // index, counted from 0
  bool deterministic = true;   // identical bits in every run; always so on a CPU
  bool tensor_floats = false;  // f32 convolutions may round factors to TF32 (10 bits of mantissa)
  bool tuned = true;           // time the candidate routines and take the fastest; false: take the first
};

// Optional features of a Backend or Stream. Users test for them with dynamic_cast and work without them.

// A recorded sequence of commands that can be enqueued again at once (a CUDA graph on a GPU).
class Recording {
 public:
  virtual ~Recording() = default;
};

// Feature of a stream.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // Records what `enqueue` launches and copies on this stream, without enqueuing it. REQUIRES: each command
  // was enqueued once before, so that its code is loaded; no events; the memory used stays valid as long as
  // the recording. Throws Error if a command cannot be recorded; nothing was enqueued then, and the stream
  // remains usable. Returns null if the stream has failed before.
  virtual std::unique_ptr<Recording> make_recording(const std::function<void()>& enqueue) = 0;
  virtual void replay(Recording& recording) = 0;  // REQUIRES: recorded on this stream
};

// Feature of a backend.
class OrderEventMaker {
 public:
  virtual ~OrderEventMaker() = default;
  virtual std::unique_ptr<Event> make_order_event() = 0;  // an event without timing, which is cheaper
};

// Feature of a backend whose convolutions sum the planes that they make while those are in cache.
class SummingBackend {
 public:
  virtual ~SummingBackend() = default;
  // Whether a node of conv3d or conv3d_sum, windowed or not, should also output moments
  // (net/graph/fused_moments.h).
  virtual bool makes_moments(const Graph& graph, const Node& node) const = 0;
};

class TuningBackend : public Backend {
 public:
  // The routines chosen by timing so far, and the device; "" if none.
  virtual std::string routines() const = 0;
  // Reuses routines chosen by other backends where possible. `earlier` may be several such texts joined; the
  // first entry for a routine counts. Warns about entries that cannot be reused. REQUIRES: nothing was
  // compiled yet.
  virtual void take_routines(const std::string& earlier) = 0;
  // Takes such texts and also replaces earlier choices. Returns true if compiled kernels used another
  // routine, so that everything must be compiled again.
  virtual bool replace_routines(const std::string& all) = 0;
};

// GPUs of ranks that train together, one per rank. Commands go to this thread's current stream, in the same
// order on both ranks of a swap.
class Peers {
 public:
  virtual ~Peers() = default;
  // Sends to another rank and receives from it at the same time. A count of 0 sends no message.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void add(float* to, const float* from, std::int64_t count) = 0;  // to += from
};

// Called once, by another thread, if a swap that was enqueued cannot end. The GPU waits for it until the
// process ends.
using TransferFailed = std::function<void(const std::string& message)>;

// Feature of a backend.
class PeerBackend {
 public:
  virtual ~PeerBackend() = default;
  virtual std::string why_no_peers() const = 0;  // for people; empty if it can reach other GPUs
  // One rank creates the bytes; all ranks pass them to join(), which returns when all have called it.
  virtual std::string create_rendezvous() = 0;
  virtual std::unique_ptr<Peers> join(const std::string& rendezvous, int rank, int count,
                                      const TransferFailed& failed) = 0;
};

}  // namespace voxswap::net
