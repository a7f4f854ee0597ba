// cuBLAS uses column-major matrices: to it, a volume [voxels][channels] is a matrix of channels x voxels, and
// weights [outputs][inputs] one of inputs x outputs.
#include "net/backends/cuda/matrix_product.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/cuda/weights.h"
#include "net/backends/cuda/workspace.h"

namespace voxswap::net::cuda {

namespace {

using Start = ConvolutionProblem::Start;

cudaDataType_t library_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return CUDA_R_32F;
    case ElementType::bf16:
      return CUDA_R_16BF;
    case ElementType::f16:
      return CUDA_R_16F;
    default:
      fail(Exit::failed, "the CUDA backend supports matrix products in f32, bf16 and f16, not in {}",
           element_name(type));
  }
}

struct Factor {
  const void* data;
  bool transposed;
  std::int64_t rows;  // as stored
};

// Shared by all three products: `rows` x `inner` times `inner` x `columns`.
class Product : public Kernel {
 public:
  Product(const ConvolutionProblem& problem, std::int64_t library_bytes, Device& device)
      : device_(device), type_(problem.type), library_bytes_(library_bytes) {
    voxels_ = problem.x.count() / problem.x[4];
    inputs_ = problem.x[4];
    outputs_ = problem.y[4];
    library_place_ = plan_.book(library_bytes);
  }
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return "cuBLAS"; }

 protected:
  // to (rows x columns, of `to_type`) = a b (+ the old content).
  void multiply(const KernelArguments& arguments, Factor a, Factor b, void* to, ElementType to_type,
                std::int64_t rows, std::int64_t columns, std::int64_t inner, bool add) {
    const float one = 1, kept = add ? 1.0F : 0.0F;
    const cudaDataType_t type = library_type(type_);
    check(cublas_library().multiply(handle(arguments), operation(a), operation(b), rows, columns, inner, &one,
                                    a.data, type, a.rows, b.data, type, b.rows, &kept, to,
                                    library_type(to_type), rows, arithmetic(), CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }
  // Computes `count` products in f32, stored one after the other; each uses the next `inner` voxels of both
  // factors.
  void multiply_parts(const KernelArguments& arguments, Factor a, Factor b, float* to, std::int64_t rows,
                      std::int64_t columns, std::int64_t inner, std::int64_t count) {
    const float one = 1, kept = 0;
    const cudaDataType_t type = library_type(type_);
    check(cublas_library().multiply_batch(handle(arguments), operation(a), operation(b), rows, columns, inner,
                                          &one, a.data, type, a.rows, inner * a.rows, b.data, type, b.rows,
                                          inner * b.rows, &kept, to, CUDA_R_32F, rows, rows * columns, count,
                                          arithmetic(), CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  }

  // Weights in the volumes' type, in place or converted.
  std::int64_t book_weights() {
    return type_ == ElementType::f32 ? 0 : plan_.book(inputs_ * outputs_ * element_bytes(type_));
  }
  const void* weights(const KernelArguments& arguments, std::int64_t place) const {
    if (type_ == ElementType::f32) return arguments.inputs[1];
    void* converted = DeviceWorkspace::at<void>(arguments, place);
    pack_weights(static_cast<const float*>(arguments.inputs[1]), converted, type_, {outputs_, inputs_, 1});
    return converted;
  }

  Device& device_;
  DeviceWorkspace plan_;
  ElementType type_;
  std::int64_t voxels_ = 0, inputs_ = 0, outputs_ = 0;

 private:
  static cublasOperation_t operation(const Factor& factor) {
    return factor.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  // The handle with our stream and workspace.
  cublasHandle_t handle(const KernelArguments& arguments) const {
    const CublasLibrary& library = cublas_library();
    cublasHandle_t handle = device_.libraries->cublas();
    check(library.set_stream(handle, current_stream()), "cublasSetStream");
    check(library.set_workspace(handle, DeviceWorkspace::at<void>(arguments, library_place_),
                                static_cast<std::size_t>(library_bytes_)),
          "cublasSetWorkspace");
    check(library.set_math_mode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
          "cublasSetMathMode");
    return handle;
  }
  cublasComputeType_t arithmetic() const {
    if (type_ != ElementType::f32) return CUBLAS_COMPUTE_32F;
    return device_.tensor_floats ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
  }

  std::int64_t library_bytes_, library_place_ = 0;
};

// The library's workspace: 4 MiB as NVIDIA recommends. For small volumes no more than the volumes' own size,
// but at least 16 KiB, with which no product fails according to the manual.
std::int64_t library_bytes(const ConvolutionProblem& problem) {
  const std::int64_t volumes = (problem.x.count() + problem.y.count()) * element_bytes(problem.type);
  return std::clamp(volumes, std::int64_t{16} << 10, std::int64_t{4} << 20);
}

// Splits a sum over all voxels into partial sums: a product of 16 x 16 is one block's work, and would leave
// all other multiprocessors unused for millions of voxels.
struct Parts {
  std::int64_t voxels, whole, all;  // per part; number of full parts; number of all parts
};
Parts cut(const ConvolutionProblem& problem) {
  constexpr std::int64_t enough = 512, fewest_voxels = 256, most_bytes = std::int64_t{32} << 20;
  const std::int64_t sums = problem.x[4] * problem.y[4] * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t most = std::clamp(most_bytes / sums, std::int64_t{1}, enough);
  const std::int64_t voxels = problem.x.count() / problem.x[4];
  const std::int64_t each = std::max((voxels + most - 1) / most, fewest_voxels);
  const std::int64_t aligned = (each + 7) / 8 * 8;  // parts begin at multiples of 16 bytes
  return {aligned, voxels / aligned, (voxels + aligned - 1) / aligned};
}

class Forward final : public Product {
 public:
  Forward(const ConvolutionProblem& problem, Device& device)
      : Product(problem, library_bytes(problem), device), start_(problem.start), weights_(book_weights()) {}
  void run(const KernelArguments& arguments) override {
    void* y = arguments.outputs[0];
    if (start_ == Start::sum && arguments.inputs[2] != y)
      check(cudaMemcpyAsync(y, arguments.inputs[2],
                            static_cast<std::size_t>(voxels_ * outputs_ * element_bytes(type_)),
                            cudaMemcpyDeviceToDevice, current_stream()),
            "cudaMemcpyAsync");
    multiply(arguments, {weights(arguments, weights_), true, inputs_}, {arguments.inputs[0], false, inputs_},
             y, type_, outputs_, voxels_, inputs_, start_ == Start::sum);
    if (start_ == Start::bias)
      add_bias(y, static_cast<const float*>(arguments.inputs[2]), type_, voxels_, outputs_, device_);
  }

 private:
  Start start_;
  std::int64_t weights_;
};

class DataGradient final : public Product {
 public:
  DataGradient(const ConvolutionProblem& problem, bool bias, Device& device)
      : Product(problem, library_bytes(problem), device), bias_(bias), weights_(book_weights()) {}
  void run(const KernelArguments& arguments) override {
    void* dx = arguments.outputs[0];
    multiply(arguments, {weights(arguments, weights_), false, inputs_},
             {arguments.inputs[0], false, outputs_}, dx, type_, inputs_, voxels_, outputs_, false);
    if (bias_) add_bias(dx, static_cast<const float*>(arguments.inputs[2]), type_, voxels_, inputs_, device_);
  }

 private:
  bool bias_;
  std::int64_t weights_;
};

class WeightGradient final : public Product {
 public:
  WeightGradient(const ConvolutionProblem& problem, bool bias, Device& device)
      : Product(problem, library_bytes(problem), device), parts_(cut(problem)), bias_(bias) {
    if (parts_.all > 1)
      places_ = plan_.book(parts_.all * inputs_ * outputs_ * static_cast<std::int64_t>(sizeof(float)));
    if (bias_) sums_ = plan_.book(channel_sums_workspace(type_, voxels_, outputs_, device_));
  }
  std::string implementation() const override {
    return parts_.all > 1 ? format("cuBLAS, in {}", counted(parts_.all, "part")) : "cuBLAS";
  }
  void run(const KernelArguments& arguments) override {
    auto* dw = static_cast<float*>(arguments.outputs[0]);
    float* parts = parts_.all > 1 ? DeviceWorkspace::at<float>(arguments, places_) : dw;
    const std::int64_t sums = inputs_ * outputs_, done = parts_.whole * parts_.voxels;
    const auto from = [&](std::size_t volume, std::int64_t channels) {
      return static_cast<std::byte*>(arguments.inputs[volume]) + done * channels * element_bytes(type_);
    };
    if (parts_.whole > 0)
      multiply_parts(arguments, {arguments.inputs[0], false, inputs_}, {arguments.inputs[1], true, outputs_},
                     parts, inputs_, outputs_, parts_.voxels, parts_.whole);
    if (parts_.all > parts_.whole)
      multiply(arguments, {from(0, inputs_), false, inputs_}, {from(1, outputs_), true, outputs_},
               parts + parts_.whole * sums, ElementType::f32, inputs_, outputs_, voxels_ - done, false);
    if (parts != dw) add_parts(parts, parts_.all, sums, dw);
    if (bias_)
      channel_sums(arguments.inputs[1], static_cast<float*>(arguments.outputs[1]), type_, voxels_, outputs_,
                   DeviceWorkspace::at<void>(arguments, sums_), device_);
  }

 private:
  Parts parts_;
  bool bias_;
  std::int64_t places_ = 0, sums_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> product_forward(const ConvolutionProblem& problem, Device& device) {
  return std::make_unique<Forward>(problem, device);
}
std::unique_ptr<Kernel> product_data_gradient(const ConvolutionProblem& problem, bool bias, Device& device) {
  return std::make_unique<DataGradient>(problem, bias, device);
}
std::unique_ptr<Kernel> product_weight_gradient(const ConvolutionProblem& problem, bool bias,
                                                Device& device) {
  return std::make_unique<WeightGradient>(problem, bias, device);
}

}  // namespace voxswap::net::cuda
