// The weights of a convolution in the format that the library likes best, made anew on every run from the
// graph's O,I,D,H,W in f32.
//
// Only files that use oneDNN include this header.
#pragma once

#include <dnnl.hpp>
#include <optional>

#include "net/backends/onednn/primitive.h"

namespace voxswap::net::onednn {

dnnl::primitive_attr own_scratchpad();  // temporaries come from the kernel's workspace

// Places in the workspace and what fills them, or neither where the wanted format is the graph's own.
class ReorderedWeights {
 public:
  // `plain`: what the convolution calls them, O,I,D,H,W in f32. Where they are mirrored, those of the graph
  // are I,O,D,H,W, and their taps come in reverse order.
  ReorderedWeights(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool mirrored,
                   WorkspacePlan& plan);
  const void* ready(const KernelArguments& arguments, const float* weights);

 private:
  enum class First { nothing, mirror, round };
  const void* arranged(const KernelArguments& arguments, const float* weights) const;

  First first_ = First::nothing;
  bool mirrored_;
  std::int64_t outputs_, inputs_, taps_;
  std::int64_t arranged_ = 0, place_ = 0;
  std::optional<Primitive> reorder_;
  std::size_t from_ = 0, to_ = 0;
};

}  // namespace voxswap::net::onednn
