// Weights of a convolution in the library's preferred format, converted on each run from the graph's
// O,I,D,H,W in f32.
//
// Only files that use oneDNN include this header.
#pragma once

#include <dnnl.hpp>
#include <optional>

#include "net/backends/onednn/primitive.h"

namespace voxswap::net::onednn {

dnnl::primitive_attr own_scratchpad();  // temporaries come from the kernel's workspace

// Offsets in the workspace and the conversion; neither if the preferred format is the graph's.
class ReorderedWeights {
 public:
  // `plain`: the layout as the convolution names it, O,I,D,H,W in f32. If mirrored, the graph's weights are
  // I,O,D,H,W, with taps in reverse order.
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
