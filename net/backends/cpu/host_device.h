// The CPU as a device: memory is RAM, a stream is a worker thread with a queue of fixed size, an event is a
// counter. Shared by all backends that compute on the host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Memory> allocate_host(
    std::int64_t bytes);  // throws Exit::does_not_fit if the machine does not have it; zero-initialised

// The same, page-aligned and with every page committed. Pages are touched in parts, and free memory is
// checked before each.
struct TakingHost {
  // Whether to refuse based on the estimate of free memory before taking any. False for machines that grow
  // only as memory is used and can give more than they report. The cgroup's limit always counts.
  bool believes_estimate = true;
  double patience_seconds = 5;  // for a machine that must grow before the next part
  fs::path root = "/";          // as of free_host_bytes()
};
std::unique_ptr<Memory> allocate_touched_host(std::int64_t bytes, const TakingHost& how = {});

std::unique_ptr<Stream> make_host_stream();               // takes events that are HostEvents
std::unique_ptr<Event> make_host_event();                 // REQUIRES: outlives the commands that use it
double host_elapsed(const Event& from, const Event& to);  // REQUIRES: of make_host_event, both occurred

// Available RAM (without /proc: unused RAM), or what the cgroups of the process leave, if less. `root`: where
// proc/ and sys/ are (for tests).
std::int64_t free_host_bytes(const fs::path& root = "/");

// Common base of all backends that compute on the host: everything except kernels.
class HostBackend : public Backend {
 public:
  std::unique_ptr<Memory> allocate(std::int64_t bytes) override;
  std::unique_ptr<Memory> allocate_host(std::int64_t bytes) override;
  std::unique_ptr<Stream> make_stream() override;
  std::unique_ptr<Stream> make_host_stream() override;
  std::unique_ptr<Event> make_event() override;
  double elapsed(const Event& from, const Event& to) const override;
  std::int64_t free_bytes() const override;
  std::int64_t free_host_bytes() const override;
  bool computes_on_host() const override { return true; }
};

// The event: a counter. Each record starts a new generation. A wait is for the
// generation last recorded when the wait was enqueued, so events can be reused in the next step.
//
// The events that order GPU and host streams derive from this one.
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
