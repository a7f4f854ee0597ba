// Shared by the three passes of norm + activation: their first inputs, and the parameters of a thread's
// channels in registers.
//
// z = (x - mean) factor + beta with factor = gamma / deviation is written once, with explicit rounding, so
// that forward and backward passes agree on the sign of each z.
#pragma once

#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"

namespace voxswap::net::cuda {

template <class T>
struct NormInputs {
  const T* x;
  const float *statistics, *gamma, *beta, *scale;  // scale: null without dropout
  float slope;
};

// Where a node's inputs are: x, statistics, gamma, beta first; the optional scale at `scale_input`.
class NormAttributes {
 public:
  NormAttributes(const Node& node, std::size_t scale_input)
      : scale_input_(scale_input),
        has_scale_(node.attributes.flag("has_scale")),
        slope_(static_cast<float>(node.attributes.real("slope"))) {}

  template <class T>
  NormInputs<T> inputs(const KernelArguments& arguments) const {
    return {input<T>(arguments, 0),
            input<float>(arguments, 1),
            input<float>(arguments, 2),
            input<float>(arguments, 3),
            has_scale_ ? input<float>(arguments, scale_input_) : nullptr,
            slope_};
  }

 private:
  std::size_t scale_input_;
  bool has_scale_;
  float slope_;
};

template <int width>
struct NormParameters {
  float mean[width], factor[width], beta[width], scale[width];
  float slope;

  template <class T>
  __device__ NormParameters(const Rows& rows, const NormInputs<T>& inputs) : slope(inputs.slope) {
#pragma unroll
    for (int lane = 0; lane < width; ++lane) {
      const int channel = channel_of_lane<width>(rows, lane);
      const std::int64_t instance =
          static_cast<std::int64_t>(blockIdx.z) / rows.sharing * rows.channels + channel;
      mean[lane] = inputs.statistics[2 * instance];
      factor[lane] = inputs.gamma[channel] * inputs.statistics[2 * instance + 1];
      beta[lane] = inputs.beta[channel];
      scale[lane] = inputs.scale != nullptr ? inputs.scale[instance] : 1.0f;
    }
  }

  // `difference` is x - mean.
  __device__ float z(int lane, float difference) const {
    return fmaf(difference, factor[lane], beta[lane]);
  }
  // dz / dy
  __device__ float derivative(int lane, float difference) const {
    return z(lane, difference) > 0.0f ? scale[lane] : scale[lane] * slope;
  }
};

}  // namespace voxswap::net::cuda
