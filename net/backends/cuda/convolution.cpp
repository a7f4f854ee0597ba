// The three convolutions by cuDNN. Each run converts weights from the graph's O,I,d,h,w in f32 to the
// library's layout and type (they are small compared with the volumes). Their gradient has the volumes' type
// and is converted back. All temporaries are in the kernel's workspace.
#include "base/error.h"
#include "net/backends/cuda/convolution_choice.h"
#include "net/backends/cuda/head_convolution.h"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/matrix_product.h"
#include "net/backends/cuda/narrow_convolution.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/cuda/weights.h"
#include "net/backends/cuda/workspace.h"

namespace voxswap::net::cuda {

namespace {

using Problem = ConvolutionProblem;

WeightShape weight_shape(const Problem& problem) {
  return {problem.y[4], problem.x[4], taps(problem.axes)};
}

std::int64_t voxels_of(const Shape& shape) {
  return shape.count() / shape[4];
}

std::shared_ptr<const ConvolutionPlan> find_plan(const Problem& problem, const Node& node, Device& device) {
  std::shared_ptr<const ConvolutionPlan> plan = device.convolutions->find(problem);
  if (plan == nullptr)
    fail(Exit::failed, "node {}: cuDNN {} has no engine on {} for a convolution {}", node.name,
         cudnn_version_text(), device.name, problem.text());
  return plan;
}

// Shared by the three: the library's plan, and weights in the library's layout.
class LibraryConvolution : public Kernel {
 public:
  LibraryConvolution(const Problem& problem, std::shared_ptr<const ConvolutionPlan> plan, Device& device)
      : device_(device), problem_(problem), runner_(std::move(plan)) {
    packed_ = places_.book(weight_shape(problem).count() * element_bytes(problem.type));
    temporary_ = places_.book(runner_.plan().workspace_bytes());
  }
  std::int64_t workspace_bytes() const override { return places_.bytes(); }
  std::string implementation() const override { return runner_.plan().name; }

 protected:
  void* packed(const KernelArguments& arguments) const {
    return DeviceWorkspace::at<void>(arguments, packed_);
  }
  void pack(const KernelArguments& arguments) const {
    pack_weights(static_cast<const float*>(arguments.inputs[1]), packed(arguments), problem_.type,
                 weight_shape(problem_));
  }
  void convolve(const KernelArguments& arguments, void* x, void* y, void* bias = nullptr) {
    runner_.run(device_.libraries->cudnn(),
                {x, packed(arguments), y, bias, DeviceWorkspace::at<void>(arguments, temporary_)});
  }

  Device& device_;
  Problem problem_;
  DeviceWorkspace places_;

 private:
  ConvolutionRunner runner_;
  std::int64_t packed_ = 0, temporary_ = 0;
};

// The library adds the bias, in the volumes' type, if it has an engine for that; otherwise it is added
// afterwards.
class Forward final : public LibraryConvolution {
 public:
  Forward(const Problem& problem, std::shared_ptr<const ConvolutionPlan> plan, bool bias_afterwards,
          Device& device)
      : LibraryConvolution(problem, std::move(plan), device), bias_afterwards_(bias_afterwards) {
    if (problem.start == Problem::Start::bias)
      bias_ = places_.book(problem.y[4] * element_bytes(problem.type));
  }
  void run(const KernelArguments& arguments) override {
    void *x = arguments.inputs[0], *y = arguments.outputs[0];
    pack(arguments);
    if (problem_.start == Problem::Start::sum && arguments.inputs[2] != y)
      check(cudaMemcpyAsync(y, arguments.inputs[2],
                            static_cast<std::size_t>(problem_.y.count() * element_bytes(problem_.type)),
                            cudaMemcpyDeviceToDevice, current_stream()),
            "cudaMemcpyAsync");
    void* bias = nullptr;
    if (problem_.start == Problem::Start::bias) {
      bias = DeviceWorkspace::at<void>(arguments, bias_);
      pack_weights(static_cast<const float*>(arguments.inputs[2]), bias, problem_.type,
                   {problem_.y[4], 1, 1});
    }
    convolve(arguments, x, y, bias);
    if (bias_afterwards_)
      add_bias(y, static_cast<const float*>(arguments.inputs[2]), problem_.type, voxels_of(problem_.y),
               problem_.y[4], device_);
  }

 private:
  bool bias_afterwards_;
  std::int64_t bias_ = 0;
};

class DataGradient final : public LibraryConvolution {
 public:
  DataGradient(const Problem& problem, std::shared_ptr<const ConvolutionPlan> plan, bool bias, Device& device)
      : LibraryConvolution(problem, std::move(plan), device), bias_(bias) {}
  void run(const KernelArguments& arguments) override {
    void *dy = arguments.inputs[0], *dx = arguments.outputs[0];
    pack(arguments);
    convolve(arguments, dx, dy);
    if (bias_)
      add_bias(dx, static_cast<const float*>(arguments.inputs[2]), problem_.type, voxels_of(problem_.x),
               problem_.x[4], device_);
  }

 private:
  bool bias_;
};

class WeightGradient final : public LibraryConvolution {
 public:
  WeightGradient(const Problem& problem, std::shared_ptr<const ConvolutionPlan> plan, bool bias,
                 Device& device)
      : LibraryConvolution(problem, std::move(plan), device), bias_(bias) {
    if (bias_)
      sums_ = places_.book(channel_sums_workspace(problem.type, voxels_of(problem.y), problem.y[4], device));
  }
  void run(const KernelArguments& arguments) override {
    void *x = arguments.inputs[0], *dy = arguments.inputs[1];
    convolve(arguments, x, dy);
    unpack_weights(packed(arguments), problem_.type, static_cast<float*>(arguments.outputs[0]),
                   weight_shape(problem_));
    if (bias_)
      channel_sums(dy, static_cast<float*>(arguments.outputs[1]), problem_.type, voxels_of(problem_.y),
                   problem_.y[4], DeviceWorkspace::at<void>(arguments, sums_), device_);
  }

 private:
  bool bias_;
  std::int64_t sums_ = 0;
};

std::unique_ptr<Kernel> make_forward(const Graph& graph, const Node& node, Device& device) {
  Problem problem = *convolution_problem(graph, node);
  if (is_head(problem, false)) return head_forward(problem);
  if (is_matrix_product(problem)) return product_forward(problem, device);
  if (is_narrow(problem, device)) return narrow_convolution(problem, false, device);
  const bool bias = problem.start == Problem::Start::bias;
  if (bias) {
    if (auto plan = device.convolutions->find(problem))
      return std::make_unique<Forward>(problem, std::move(plan), false, device);
    problem.start = Problem::Start::zero;
  }
  return std::make_unique<Forward>(problem, find_plan(problem, node, device), bias, device);
}

}  // namespace

std::unique_ptr<Kernel> make_conv3d(const Graph& graph, const Node& node, Device& device) {
  return make_forward(graph, node, device);
}

std::unique_ptr<Kernel> make_conv3d_sum(const Graph& graph, const Node& node, Device& device) {
  return make_forward(graph, node, device);
}

std::unique_ptr<Kernel> make_conv3d_data_gradient(const Graph& graph, const Node& node, Device& device) {
  const Problem problem = *convolution_problem(graph, node);
  const bool bias = node.inputs.size() > 2;
  if (is_head(problem, bias)) return head_data_gradient(problem);
  if (is_matrix_product(problem)) return product_data_gradient(problem, bias, device);
  if (is_narrow(problem, device)) return narrow_convolution(problem, bias, device);
  return std::make_unique<DataGradient>(problem, find_plan(problem, node, device), bias, device);
}

std::unique_ptr<Kernel> make_conv3d_weight_gradient(const Graph& graph, const Node& node, Device& device) {
  const Problem problem = *convolution_problem(graph, node);
  const bool bias = node.attributes.flag("bias");
  if (is_head(problem, bias)) return head_weight_gradient(problem, bias, device);
  if (is_matrix_product(problem)) return product_weight_gradient(problem, bias, device);
  if (is_narrow(problem, device)) return narrow_convolution(problem, bias, device);
  return std::make_unique<WeightGradient>(problem, find_plan(problem, node, device), bias, device);
}

}  // namespace voxswap::net::cuda
