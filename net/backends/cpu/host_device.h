// The CPU seen as a device: memory is RAM, a stream is a worker thread with a queue of fixed size, an event
// is a counter. Shared by every backend that computes on the host.
#pragma once

#include <memory>

#include "base/filesystem.h"
#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Memory> allocate_host(
    std::int64_t bytes);  // throws Exit::does_not_fit when the machine has not got it; holds zeros

// The same, at a page's boundary and with every page really there: they are touched a piece at a time, each
// after a look at what is free then.
struct TakingHost {
  // The estimate of what is free counts before anything is taken. Without it a machine that grows only when
  // its memory is used can give more than it says; what its cgroup leaves is no estimate and always counts.
  bool believes_estimate = true;
  double patience_seconds = 5;  // for a machine that has to grow before the next piece
  fs::path root = "/";          // as of free_host_bytes()
};
std::unique_ptr<Memory> allocate_touched_host(std::int64_t bytes, const TakingHost& how = {});

std::unique_ptr<Stream> make_host_stream();               // takes events that are HostEvents (host_event.h)
std::unique_ptr<Event> make_host_event();                 // REQUIRES: outlives the commands that name it
double host_elapsed(const Event& from, const Event& to);  // REQUIRES: of make_host_event, both have happened

// Available RAM (where there is no /proc, unused RAM), or what the process's cgroup and those above it leave
// if that is less. `root` is where proc/ and sys/ are looked for (tests put files there).
std::int64_t free_host_bytes(const fs::path& root = "/");

// What all backends that compute on the host have in common: everything but kernels.
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

}  // namespace voxswap::net
