// Convolutions that report what they have just made, so that it can be summed while in cache.
#pragma once

#include "net/backends/backend.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// A kernel that reports each part of a plane as soon as it is finished.
class ObservableKernel : public Kernel {
 public:
  virtual std::int64_t parts() const = 0;  // per plane; depends only on its shape
  virtual void run_observed(const KernelArguments& arguments, const PartMade* made) = 0;  // null: no observer
  void run(const KernelArguments& arguments) final { run_observed(arguments, nullptr); }
};

}  // namespace voxswap::net::convolution
