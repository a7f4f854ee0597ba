// A oneDNN primitive for repeated execution. Its memory objects are pointed at the tensors before each run,
// and its scratchpad is in the kernel's workspace.
//
// Only files that use oneDNN include this header.
#pragma once

#include <dnnl.hpp>
#include <vector>

#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

const dnnl::engine& engine();  // the CPU

class Primitive {
 public:
  Primitive(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad, WorkspacePlan& plan);

  // Adds an argument and returns its index for point().
  std::size_t argument(int kind, const dnnl::memory::desc& description);
  void point(std::size_t argument, const void* data);
  void run(const KernelArguments& arguments);

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;  // the scratchpad first
  std::vector<dnnl_exec_arg_t> arguments_;
  std::int64_t scratchpad_;
};

}  // namespace voxswap::net::onednn
