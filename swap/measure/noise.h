// How much other programs disturb a measurement.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace voxswap::swap {

// Measures how long threads of this process wait for a core, from construction on.
class WaitsForCores {
 public:
  WaitsForCores();
  // The share of the time in which a thread was ready to run but had no core, for the thread that waited
  // longest. 0 if the system does not count it (Linux does, in /proc/self/task/*/schedstat).
  double share() const;

 private:
  std::map<std::string, std::int64_t> before_;  // nanoseconds, by thread
  std::chrono::steady_clock::time_point begin_;
};

// Relative distance of the median from the minimum: 0.1 for 10 %. REQUIRES: positive numbers, at least one.
double spread(std::vector<double> seconds);

}  // namespace voxswap::swap
