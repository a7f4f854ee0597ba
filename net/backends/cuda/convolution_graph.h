// A convolution in cuDNN's graph API: a graph of one operation, or two with a bias. Weights are O,d,h,w,I in
// the volumes' type. Products are accumulated in f32.
#pragma once

#include <cudnn.h>

#include <string>

#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/cudnn_descriptor.h"

namespace voxswap::net::cuda {

// The device of plans: that of a handle, or one that is only described.
struct PlanDevice {
  cudnnHandle_t handle = nullptr;
  Descriptor properties;  // if there is no handle
};
PlanDevice described_device(const std::string& json);  // as cuDNN describes devices

// Names of the tensors within a graph.
enum TensorId : std::int64_t { id_x = 1, id_w, id_y, id_bias, id_products };

Descriptor operation_graph(const ConvolutionProblem& problem, const PlanDevice& device);

}  // namespace voxswap::net::cuda
