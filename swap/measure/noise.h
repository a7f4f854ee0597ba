// How much other programs slow down what is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace voxswap::swap {

// How long threads of this process wait for a core, from the construction on.
class WaitsForCores {
 public:
  WaitsForCores();
  // Of the thread that waited longest: the share of the time in which it was ready to run and had no core.
  // 0 where the system does not count it (Linux does, in /proc/self/task/*/schedstat).
  double share() const;

 private:
  std::map<std::string, std::int64_t> before_;  // nanoseconds, by thread
  std::chrono::steady_clock::time_point begin_;
};

// By how much the median is above the least: 0.1 for 10 %. REQUIRES: positive numbers, at least one.
double spread(std::vector<double> seconds);

}  // namespace voxswap::swap
