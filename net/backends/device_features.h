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

class TuningBackend : public Backend {
 public:
  // Which routines were chosen by their time so far, and on what device; "" for none.
  virtual std::string routines() const = 0;
  // Those of other backends, which are to be taken again where they can be: several may follow one another,
  // of a routine the first counts. Warns of what cannot be. REQUIRES: nothing was compiled yet.
  virtual void take_routines(const std::string& earlier) = 0;
};

}  // namespace voxswap::net
