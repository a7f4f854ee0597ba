#include "tests/cuda_emulation/cudnn_convolution.h"

#include <array>

namespace voxswap::emulation {

const Convolution* convolution_of(cudnnBackendDescriptorType_t type) {
  static const std::map<cudnnBackendDescriptorType_t, Convolution> kinds = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}}};
  const auto found = kinds.find(type);
  return found == kinds.end() ? nullptr : &found->second;
}

bool channels_innermost(const Tensor& t) {
  std::int64_t step = t.sizes[1];
  if (t.strides[1] != 1) return false;
  for (const std::size_t axis : {4, 3, 2, 0}) {
    if (t.strides[axis] != step) return false;
    step *= t.sizes[axis];
  }
  return true;
}

std::vector<double> values(const Tensor& tensor, const void* data) {
  std::vector<double> result(static_cast<std::size_t>(tensor.count()));
  voxswap::net::load_elements(result.data(), data, tensor.type, tensor.count());
  return result;
}

namespace {

// Calls use(x, w, y) with the positions that each tap connects: x[i] w[o][i] contributes to y[o].
template <class Use>
void for_each_meeting(const Sizes& x, const Sizes& w, const Sizes& y, const Window& window, Use use) {
  const std::int64_t inputs = x[1], outputs = y[1], taps = w[2] * w[3] * w[4];
  for (std::int64_t at = 0; at < y[0] * y[2] * y[3] * y[4]; ++at) {
    const std::array<std::int64_t, 3> place = {at / y[4] / y[3] % y[2], at / y[4] % y[3], at % y[4]};
    const std::int64_t sample = at / y[4] / y[3] / y[2];
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::array<std::int64_t, 3> shift = {tap / w[4] / w[3], tap / w[4] % w[3], tap % w[4]};
      std::int64_t from = sample;
      bool inside = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t i =
            place[axis] * window.stride[axis] - window.before[axis] + shift[axis] * window.dilation[axis];
        inside = inside && i >= 0 && i < x[axis + 2];
        from = from * x[axis + 2] + i;
      }
      if (!inside) continue;
      for (std::int64_t o = 0; o < outputs; ++o)
        use(from * inputs, (o * taps + tap) * inputs, at * outputs + o);
    }
  }
}

}  // namespace

std::vector<double> convolved(const Content& operation, const Tensor& x, const Tensor& w, const Tensor& y,
                              const void* at_x, const void* at_w, const void* at_y) {
  const Convolution& names = *convolution_of(operation.type);
  const Window window(operation.descriptor(names.window), x.sizes, w.sizes, y.sizes);
  const std::int64_t inputs = x.sizes[1];
  std::vector<double> result;
  const auto meet = [&](auto use) { for_each_meeting(x.sizes, w.sizes, y.sizes, window, use); };
  const auto at = [](auto& of, std::int64_t i) { return of.data() + i; };
  if (operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    const std::vector<double> vx = values(x, at_x), vw = values(w, at_w);
    result.assign(static_cast<std::size_t>(y.count()), 0);
    meet([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      *at(result, k) += std::inner_product(at(vx, i), at(vx, i + inputs), at(vw, j), 0.0);
    });
  } else if (operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
    const std::vector<double> vw = values(w, at_w), vy = values(y, at_y);
    result.assign(static_cast<std::size_t>(x.count()), 0);
    meet([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      for (std::int64_t c = 0; c < inputs; ++c) *at(result, i + c) += *at(vw, j + c) * *at(vy, k);
    });
  } else {
    const std::vector<double> vx = values(x, at_x), vy = values(y, at_y);
    result.assign(static_cast<std::size_t>(w.count()), 0);
    meet([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      for (std::int64_t c = 0; c < inputs; ++c) *at(result, j + c) += *at(vx, i + c) * *at(vy, k);
    });
  }
  return result;
}

}  // namespace voxswap::emulation
