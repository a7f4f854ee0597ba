// A convolution as cuDNN's graph API sees it: a graph of one operation, or of two where a bias is added.
// Weights are O,d,h,w,I of the volumes' type; products are added in f32.
#pragma once

#include <cudnn.h>

#include <string>

#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/cudnn_descriptor.h"

namespace voxswap::net::cuda {

// What plans are for: the device of a handle, or one that is not here.
struct PlanDevice {
  cudnnHandle_t handle = nullptr;
  Descriptor properties;  // where there is no handle
};
PlanDevice described_device(const std::string& json);  // as cuDNN describes devices

// Names of the tensors within a graph.
enum TensorId : std::int64_t { id_x = 1, id_w, id_y, id_bias, id_products };

Descriptor operation_graph(const ConvolutionProblem& problem, const PlanDevice& device);

}  // namespace voxswap::net::cuda
