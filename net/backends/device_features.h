// Optional features of a Backend or Stream. Users test for them with dynamic_cast and work without them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/backends/backend.h"

namespace voxswap::net {

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
  // Reuses routines chosen by other backends where possible. `earlier` may join several such texts; for each
  // routine the first counts. Warns about what cannot be reused. REQUIRES: nothing was compiled yet.
  virtual void take_routines(const std::string& earlier) = 0;
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

// Feature of a backend.
class PeerBackend {
 public:
  virtual ~PeerBackend() = default;
  virtual std::string why_no_peers() const = 0;  // for people; empty if it can reach other GPUs
  // One rank creates the bytes; all ranks pass them to meet(), which returns when all have called it.
  virtual std::string new_meeting() = 0;
  virtual std::unique_ptr<Peers> meet(const std::string& meeting, int rank, int count) = 0;
};

}  // namespace voxswap::net
