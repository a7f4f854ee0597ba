// cuDNN's graph API, and a convolution in it: a graph of one operation, or two with a bias. Weights are
// O,d,h,w,I in the volumes' type. Products are accumulated in f32.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "net/backends/cuda/convolution_problem.h"

namespace voxswap::net::cuda {

// A descriptor of cuDNN's graph API, the API's only kind of object: it has typed attributes and is finalized
// before use.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  using Name = cudnnBackendAttributeName_t;
  Descriptor& set(Name name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
  Descriptor& set(Name name, std::int64_t value);
  Descriptor& set(Name name, const std::vector<std::int64_t>& values);
  Descriptor& set(Name name, float value);
  Descriptor& set(Name name, bool value);
  Descriptor& set(Name name, cudnnDataType_t value);
  Descriptor& set(Name name, cudnnHandle_t value);
  Descriptor& set(Name name, const Descriptor& value);
  Descriptor& set(Name name, const std::vector<const Descriptor*>& values);
  Descriptor& finalize();  // throws
  bool try_finalize();     // false: not supported; throws other errors

  std::int64_t integer(Name name) const;
  // Values of an enumeration, at most `most` of them.
  std::vector<std::int32_t> enumeration(Name name, cudnnBackendAttributeType_t type, std::size_t most) const;
  // Up to `most` descriptors of `type`.
  std::vector<Descriptor> descriptors(Name name, cudnnBackendDescriptorType_t type, std::size_t most) const;

  cudnnBackendDescriptor_t raw() const { return raw_; }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

// The device of plans: that of a handle, or only a description.
struct PlanDevice {
  cudnnHandle_t handle = nullptr;
  Descriptor properties;  // if there is no handle
};
PlanDevice described_device(const std::string& json);  // as cuDNN describes devices

// Names of the tensors within a graph.
enum TensorId : std::int64_t { id_x = 1, id_w, id_y, id_bias, id_products };

Descriptor operation_graph(const ConvolutionProblem& problem, const PlanDevice& device);

}  // namespace voxswap::net::cuda
