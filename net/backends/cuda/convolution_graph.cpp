#include "net/backends/cuda/convolution_graph.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "net/backends/cuda/libraries.h"

namespace voxswap::net::cuda {

namespace {

using Problem = ConvolutionProblem;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t alignment = 16;  // promised to the library; actual addresses are better aligned

cudnnDataType_t library_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return CUDNN_DATA_FLOAT;
    case ElementType::bf16:
      return CUDNN_DATA_BFLOAT16;
    case ElementType::f16:
      return CUDNN_DATA_HALF;
    default:
      fail(Exit::failed, "the CUDA backend supports convolutions in f32, bf16 and f16, not in {}",
           element_name(type));
  }
}

// The library orders sizes N,C,D,H,W whichever axis is innermost; here C is.
Descriptor tensor(TensorId id, cudnnDataType_t type, const Sizes& sizes, bool is_virtual = false) {
  const std::int64_t c = sizes[1], d = sizes[2], h = sizes[3], w = sizes[4];
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(id))
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, Sizes{d * h * w * c, 1, h * w * c, w * c, c})
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  if (is_virtual) result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  result.finalize();
  return result;
}

Sizes channels_second(const Shape& shape) {
  return {shape[0], shape[4], shape[1], shape[2], shape[3]};
}

Descriptor window(const Problem& problem) {
  const auto of_axes = [&](auto get) {
    Sizes sizes;
    for (const KernelAxis& axis : problem.axes) sizes.push_back(get(axis));
    return sizes;
  };
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{3})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, of_axes([](const KernelAxis& axis) { return axis.before; }))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, of_axes([](const KernelAxis& axis) { return axis.behind; }))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, of_axes([](const KernelAxis& axis) { return axis.stride; }))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, of_axes([](const KernelAxis& axis) { return axis.dilation; }))
      .finalize();
  return result;
}

// The attributes of one kind of convolution.
struct Operation {
  cudnnBackendDescriptorType_t type;
  Descriptor::Name x, w, y, window, alpha, beta;
};
Operation operation(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case Problem::Kind::data_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case Problem::Kind::weight_gradient:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

Descriptor added(const Descriptor& products, const Descriptor& bias, const Descriptor& y) {
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  Descriptor add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  add.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize();
  Descriptor result(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, products)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)
      .finalize();
  return result;
}

}  // namespace

Descriptor operation_graph(const Problem& problem, const PlanDevice& device) {
  const cudnnDataType_t type = library_type(problem.type);
  const std::int64_t channels = problem.y[4];
  const KernelAxes& axes = problem.axes;
  const bool with_bias = problem.start == Problem::Start::bias;
  const Descriptor x = tensor(id_x, type, channels_second(problem.x)),
                   w = tensor(id_w, type,
                              {channels, problem.x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel}),
                   y = tensor(id_y, type, channels_second(problem.y)), conv = window(problem);
  Descriptor products, bias, addition;
  if (with_bias) {
    products = tensor(id_products, CUDNN_DATA_FLOAT, channels_second(problem.y), /*is_virtual=*/true);
    bias = tensor(id_bias, type, {1, channels, 1, 1, 1});
    addition = added(products, bias, y);
  }
  const Operation names = operation(problem.kind);
  Descriptor convolution(names.type);
  convolution.set(names.x, x)
      .set(names.w, w)
      .set(names.y, with_bias ? products : y)
      .set(names.window, conv)
      .set(names.alpha, 1.0F)
      .set(names.beta, problem.start == Problem::Start::sum ? 1.0F : 0.0F)
      .finalize();
  std::vector<const Descriptor*> operations = {&convolution};
  if (with_bias) operations.push_back(&addition);
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  if (device.handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, device.handle);
  graph.finalize();
  return graph;
}

PlanDevice described_device(const std::string& json) {
  PlanDevice result = {nullptr, Descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)};
  result.properties
      .set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(json.size()),
           json.data())
      .finalize();
  return result;
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  check(cudnn_library().create_descriptor(type, &raw_), "cudnnBackendCreateDescriptor");
}
Descriptor::~Descriptor() {
  if (raw_ != nullptr) cudnn_library().destroy_descriptor(raw_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(raw_, other.raw_);
  return *this;
}

Descriptor& Descriptor::set(Name name, cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
  check(cudnn_library().set_attribute(raw_, name, type, count, values), "cudnnBackendSetAttribute");
  return *this;
}
Descriptor& Descriptor::set(Name name, std::int64_t value) {
  return set(name, CUDNN_TYPE_INT64, 1, &value);
}
Descriptor& Descriptor::set(Name name, const std::vector<std::int64_t>& values) {
  return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}
Descriptor& Descriptor::set(Name name, float value) {
  return set(name, CUDNN_TYPE_FLOAT, 1, &value);
}
Descriptor& Descriptor::set(Name name, bool value) {
  return set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}
Descriptor& Descriptor::set(Name name, cudnnDataType_t value) {
  return set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}
Descriptor& Descriptor::set(Name name, cudnnHandle_t value) {
  return set(name, CUDNN_TYPE_HANDLE, 1, &value);
}
Descriptor& Descriptor::set(Name name, const Descriptor& value) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
}
Descriptor& Descriptor::set(Name name, const std::vector<const Descriptor*>& values) {
  std::vector<cudnnBackendDescriptor_t> raws;
  for (const Descriptor* value : values) raws.push_back(value->raw_);
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raws.size()), raws.data());
}

Descriptor& Descriptor::finalize() {
  check(cudnn_library().finalize(raw_), "cudnnBackendFinalize");
  return *this;
}

bool Descriptor::try_finalize() {
  const cudnnStatus_t status = cudnn_library().finalize(raw_);
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) return false;
  check(status, "cudnnBackendFinalize");
  return true;
}

std::int64_t Descriptor::integer(Name name) const {
  std::int64_t value = 0, count = 0;
  check(cudnn_library().get_attribute(raw_, name, CUDNN_TYPE_INT64, 1, &count, &value),
        "cudnnBackendGetAttribute");
  return value;
}

std::vector<std::int32_t> Descriptor::enumeration(Name name, cudnnBackendAttributeType_t type,
                                                  std::size_t most) const {
  std::vector<std::int32_t> values(most);
  std::int64_t count = 0;
  check(
      cudnn_library().get_attribute(raw_, name, type, static_cast<std::int64_t>(most), &count, values.data()),
      "cudnnBackendGetAttribute");
  values.resize(std::min(most, static_cast<std::size_t>(count)));
  return values;
}

std::vector<Descriptor> Descriptor::descriptors(Name name, cudnnBackendDescriptorType_t type,
                                                std::size_t most) const {
  std::vector<Descriptor> result;
  std::vector<cudnnBackendDescriptor_t> raws;
  for (std::size_t i = 0; i < most; ++i) {
    result.emplace_back(type);
    raws.push_back(result.back().raw_);
  }
  std::int64_t count = 0;
  check(cudnn_library().get_attribute(raw_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                      static_cast<std::int64_t>(most), &count, raws.data()),
        "cudnnBackendGetAttribute");
  result.resize(std::min(most, static_cast<std::size_t>(count)));
  return result;
}

}  // namespace voxswap::net::cuda
