// Convolutions that say what they have just made, so that it can be summed while it is near.
#pragma once

#include "net/backends/backend.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// A kernel that tells of every part of a plane as soon as it is there.
class ObservableKernel : public Kernel {
 public:
  virtual std::int64_t parts() const = 0;  // of a plane; they follow from its shape
  virtual void run_observed(const KernelArguments& arguments, const PartMade* made) = 0;  // null: nobody
  void run(const KernelArguments& arguments) final { run_observed(arguments, nullptr); }
};

}  // namespace voxswap::net::convolution
