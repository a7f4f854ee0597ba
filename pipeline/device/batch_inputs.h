// The batch of the next training step. A step on a CPU reads it where it is. For a device with memory of its
// own, it is uploaded, or made there of what was drawn, beside the running step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/cases/cases.h"
#include "pipeline/device/device_samples.h"
#include "pipeline/device/staging.h"
#include "swap/execute/executor.h"

namespace voxswap::pipeline {

struct BatchSlabs {
  std::vector<InputSlab> image, target;
};

class BatchInputs {
 public:
  // `spare_bytes`: device memory beside the plans.
  BatchInputs(net::Backend& backend, BatchSlabs slabs, std::int64_t spare_bytes);

  // The batch, as in Session::give().
  void give(std::span<const float> images, std::span<const std::uint8_t> targets);
  void give(const std::vector<DrawnSample>& drawn);  // REQUIRES: hold()
  void wait();                                       // until the device has it
  void lend_to(swap::Executor& executor);            // waits for it

  // As Session::hold(). `most_bytes`: of device memory for cases.
  void hold(Cases& cases, const std::vector<std::size_t>& training, const SampleShape& shape,
            std::int64_t most_bytes);
  std::int64_t device_bytes() const;  // for samples and the cases that are held

  // Releases the batch and its memory, for a step that is planned again.
  void drop();
  void set_slabs(BatchSlabs slabs, std::int64_t spare_bytes);  // REQUIRES: drop()

 private:
  net::Backend* backend_;
  BatchSlabs slabs_;
  std::int64_t spare_bytes_;
  InputWriter writer_;              // on a CPU
  std::unique_ptr<Upload> upload_;  // on first use
  std::unique_ptr<DeviceSamples> samples_;
  bool is_drawn_ = false;  // the batch is made by samples_
  std::span<const float> images_;
  std::span<const std::uint8_t> targets_;
};

}  // namespace voxswap::pipeline
