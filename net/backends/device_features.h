// What some devices can do beyond what every Backend and Stream can. Who wants to use it asks whether the
// object at hand has it (dynamic_cast), and does without where it has not.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/backends/backend.h"

namespace voxswap::net {

// Commands that were recorded once, to be enqueued again all at once.
class Recording {
 public:
  virtual ~Recording() = default;
};

// Of a stream.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // What `enqueue` launches and copies on this stream, recorded instead of enqueued. REQUIRES: each of its
  // commands was enqueued before, so that what it loads is there; no events among them; what they point to
  // stays as long as the recording. Throws Error where one of them cannot be recorded: then nothing was
  // enqueued, and the stream goes on. Null where the stream has failed before.
  virtual std::unique_ptr<Recording> make_recording(const std::function<void()>& enqueue) = 0;
  virtual void replay(Recording& recording) = 0;  // REQUIRES: of this stream
};

// Of a backend.
class OrderEventMaker {
 public:
  virtual ~OrderEventMaker() = default;
  virtual std::unique_ptr<Event> make_order_event() = 0;  // nobody asks for its time, and it costs less
};

// Of a backend whose convolutions sum the planes that they make while those are in a cache.
class SummingBackend {
 public:
  virtual ~SummingBackend() = default;
  // Whether a node of conv3d or conv3d_sum, or of these on windows, is to give moments
  // (net/graph/fused_moments.h).
  virtual bool makes_moments(const Graph& graph, const Node& node) const = 0;
};

class TuningBackend : public Backend {
 public:
  // Which routines were chosen by their time so far, and on what device; "" for none.
  virtual std::string routines() const = 0;
  // Those of other backends, which are to be taken again where they can be: several may follow one another,
  // of a routine the first counts. Warns of what cannot be. REQUIRES: nothing was compiled yet.
  virtual void take_routines(const std::string& earlier) = 0;
};

// The GPUs of ranks that train together, one each. Its commands go to the current stream of this thread, in
// the same order on the two that swap.
class Peers {
 public:
  virtual ~Peers() = default;
  // Sends one thing to another rank and receives another from it at the same time; of nothing there is no
  // message.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void add(float* to, const float* from, std::int64_t count) = 0;  // to what is there
};

// Of a backend.
class PeerBackend {
 public:
  virtual ~PeerBackend() = default;
  virtual std::string why_no_peers() const = 0;  // for people; empty where it can meet others
  // Bytes that one rank makes and all of them bring to meet(), which returns when all are there.
  virtual std::string new_meeting() = 0;
  virtual std::unique_ptr<Peers> meet(const std::string& meeting, int rank, int count) = 0;
};

}  // namespace voxswap::net
