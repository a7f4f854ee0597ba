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

// One line: how busy the device was and, below 90 %, the causes, largest first, with the keys that reduce
// them. Empty for an epoch below a second, which says little.
std::string device_use_text(const DeviceUse& use, std::int64_t loader_threads);

void log_device_use(const DeviceUse& use, std::int64_t loader_threads);  // unless the text is empty

}  // namespace voxswap::pipeline
