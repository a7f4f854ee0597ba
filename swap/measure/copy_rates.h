// Measures copy rates between the memories of a step: device, host pool, scratch file.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>

#include "base/file.h"
#include "net/backends/backend.h"
#include "net/collective/exchange.h"
#include "swap/model/costs.h"

namespace voxswap::swap {

constexpr std::int64_t measured_chunk = std::int64_t{16} << 20;  // bytes of one copy or disk access

// Sets to_host, to_device (`busy` as `alone`) and copy_seconds. Cycles through both memories, so that caches
// help as little as in a step. Overwrites their content.
void measure_copies(net::Backend& backend, net::Memory& device, net::Memory& host, CostModel& costs);

// Sets to_disk, from_disk and disk_seconds with a scratch file of at most `bytes`, written for about half a
// second, overwritten and read. Overwrites the content of `host`.
void measure_disk(const fs::path& folder, std::int64_t bytes, net::Memory& host, CostModel& costs);

// Copies chunks in both directions from construction until finish().
class BackgroundCopies {
 public:
  BackgroundCopies(net::Backend& backend, net::Memory& device, net::Memory& host);
  ~BackgroundCopies();  // stops
  BackgroundCopies(const BackgroundCopies&) = delete;
  BackgroundCopies& operator=(const BackgroundCopies&) = delete;

  void finish();  // throws the failure of a copy

  // After finish(), in each direction:
  std::int64_t bytes() const { return bytes_; }
  double to_host_seconds() const { return to_host_seconds_; }
  double to_device_seconds() const { return to_device_seconds_; }

 private:
  void work();

  net::Backend& backend_;
  net::Memory &device_, &host_;
  std::int64_t bytes_ = 0;
  double to_host_seconds_ = 0, to_device_seconds_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Measures the exchanges between the ranks of this run, with a few bytes and with 8 MiB, a few times each.
// All ranks call it, with an exchange that has a backend, and all get the result of the first. It ignores
// machines: one rate is used for all links.
Network measure_network(net::Exchange& exchange);

}  // namespace voxswap::swap
