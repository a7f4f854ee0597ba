// An event of the CPU as a device: a counter. Each record starts a new generation. A wait is for the
// generation last recorded when the wait was enqueued, so events can be reused in the next step.
//
// The events that order GPU and host streams derive from this one.
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

  // Called when a record or wait is enqueued on a host stream. The result is passed to happen() or wait()
  // when the stream reaches it.
  virtual std::uint64_t record_enqueued();
  virtual std::uint64_t wait_enqueued();
  virtual void happen(std::uint64_t generation);
  virtual void wait(std::uint64_t generation);

  Clock::time_point time() const;  // of the last occurrence

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0, happened_ = 0;
  Clock::time_point time_;
};

}  // namespace voxswap::net
