// Shared by the three passes of norm + activation: its parameters, one per lane of a row.
//
// z = (x - mean) factor + beta with factor = gamma / deviation is written the same way in forward and
// backward passes, so that they agree on the sign of each z.
#pragma once

#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

struct NormArrays {
  const float *mean, *factor, *beta, *scale;
  float slope;
};

// Offsets in a kernel's workspace. Inputs begin with x, statistics, gamma, beta in all three operations; the
// optional scale is input `scale_input`.
class NormPlaces {
 public:
  NormPlaces(const RowLayout& layout, const Node& node, std::size_t scale_input, WorkspacePlan& plan)
      : layout_(layout), scale_input_(scale_input), has_scale_(node.attributes.flag("has_scale")) {
    slope_ = static_cast<float>(node.attributes.real("slope"));
    start_ = plan.book(4 * expanded_bytes(layout));
  }

  NormArrays fill(const KernelArguments& arguments) const {
    const float *statistics = input<float>(arguments, 1), *gamma = input<float>(arguments, 2);
    const float* beta = input<float>(arguments, 3);
    const float* scale = has_scale_ ? input<float>(arguments, scale_input_) : nullptr;
    const std::int64_t size = layout_.samples * layout_.wide;
    float* at = place<float>(arguments, start_);
    const auto instance = [&](std::int64_t sample, std::int64_t c) { return sample * layout_.channels + c; };
    expand(at, layout_, [&](std::int64_t n, std::int64_t c) { return statistics[2 * instance(n, c)]; });
    expand(at + size, layout_,
           [&](std::int64_t n, std::int64_t c) { return gamma[c] * statistics[2 * instance(n, c) + 1]; });
    expand(at + 2 * size, layout_, [&](std::int64_t, std::int64_t c) { return beta[c]; });
    expand(at + 3 * size, layout_,
           [&](std::int64_t n, std::int64_t c) { return scale != nullptr ? scale[instance(n, c)] : 1.0f; });
    return {at, at + size, at + 2 * size, at + 3 * size, slope_};
  }

 private:
  RowLayout layout_;
  std::size_t scale_input_;
  bool has_scale_;
  float slope_;
  std::int64_t start_;
};

}  // namespace voxswap::net::onednn
