// Tensors and convolutions as cuDNN's graph API describes them, computed by plain loops in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "net/backends/reference/elements.h"
#include "tests/cuda_emulation/cudnn_content.h"

namespace voxswap::emulation {

using Sizes = std::vector<std::int64_t>;

struct Tensor {
  std::int64_t id;
  net::ElementType type;
  Sizes sizes, strides;  // N,C,D,H,W
  bool is_virtual;

  explicit Tensor(const Content& of)
      : id(of.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        sizes(of.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(of.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES)),
        is_virtual(of.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && of.one<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0) {
    const auto data_type = of.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    type = data_type == CUDNN_DATA_FLOAT  ? net::ElementType::f32
           : data_type == CUDNN_DATA_HALF ? net::ElementType::f16
                                          : net::ElementType::bf16;
  }
  std::int64_t count() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::int64_t bytes() const { return count() * voxswap::net::element_bytes(type); }
};

// Our backend only uses channels-last layouts; no other is emulated.
bool channels_innermost(const Tensor& tensor);

std::vector<double> values(const Tensor& tensor, const void* data);

// The attribute names of one kind of convolution.
struct Convolution {
  Name x, w, y, window, alpha, beta;
};
// Null if `type` is not a convolution.
const Convolution* convolution_of(cudnnBackendDescriptorType_t type);

// The geometry that relates x, w and y of a convolution, for all three kinds.
struct Window {
  Sizes before, stride, dilation;
  bool fits = true;

  Window(const Content& of, const Sizes& x, const Sizes& w, const Sizes& y)
      : before(of.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS)),
        stride(of.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES)),
        dilation(of.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS)) {
    const Sizes after = of.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    fits = of.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION &&
           of.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 3 && x[0] == y[0] && x[1] == w[1] &&
           y[1] == w[0];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t reach = (w[axis + 2] - 1) * dilation[axis] + 1;
      fits = fits && dilation[axis] > 0 &&
             y[axis + 2] == (x[axis + 2] + before[axis] + after[axis] - reach) / stride[axis] + 1;
    }
  }
};

// The result of `operation` from the data at x, w and y, before rounding.
std::vector<double> convolved(const Content& operation, const Tensor& x, const Tensor& w, const Tensor& y,
                              const void* at_x, const void* at_w, const void* at_y);

}  // namespace voxswap::emulation
