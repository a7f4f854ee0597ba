// A kernel that runs a function.
#pragma once

#include <functional>
#include <utility>

#include "net/backends/backend.h"

namespace voxswap::net {

class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(std::function<void()> function) : function_(std::move(function)) {}
  void run(const KernelArguments&) override { function_(); }

 private:
  std::function<void()> function_;
};

}  // namespace voxswap::net
