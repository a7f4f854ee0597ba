// An event of the CPU as a device: a counter. Every record is a generation. A wait asks for the generation
// that was last recorded when the wait was enqueued, so an event can be used again in the next step.
//
// Streams of a GPU and of the host are ordered by events that derive from this one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "net/backends/backend.h"

namespace voxswap::net {

class HostEvent : public Event {
 public:
  using Clock = std::chrono::steady_clock;

  // When a host stream is told to record, and to wait; what they return is handed to happen() and wait() when
  // the stream has come so far.
  virtual std::uint64_t record_enqueued();
  virtual std::uint64_t wait_enqueued();
  virtual void happen(std::uint64_t generation);
  virtual void wait(std::uint64_t generation);

  Clock::time_point time() const;  // of the last happening

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0, happened_ = 0;
  Clock::time_point time_;
};

}  // namespace voxswap::net
