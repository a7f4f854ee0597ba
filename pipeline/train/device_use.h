// How much of an epoch the device computed, and what it waited for otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace voxswap::pipeline {

// In seconds of wall time.
struct DeviceUse {
  double seconds = 0;          // of the epoch: training and validation
  double training_busy = 0;    // of kernels in training steps
  double validation_busy = 0;  // of kernels in validation
  double validation = 0;       // validation as a whole
  double samples = 0,
         copies = 0;  // that training waited for samples, and kernels for copies of swapped values

  double busy() const { return seconds > 0 ? (training_busy + validation_busy) / seconds : 0; }  // 0 to 1
};

// One line with the causes, largest first, and the keys that reduce them; empty if the device was busy for 90
// %.
std::string waits_text(const DeviceUse& use, std::int64_t loader_threads);

}  // namespace voxswap::pipeline
