// The table of backends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/backends/backend.h"

namespace voxswap::net {

// Throws Exit::usage for an unknown name (suggesting the nearest), Exit::does_not_fit if the machine has no
// such device.
std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options = {});
std::vector<std::string> backend_names();               // backends with a device on this machine
int device_count(const std::string& backend);           // REQUIRES: in the table
std::string why_no_device(const std::string& backend);  // for people; empty if there is one
std::vector<std::string> backends_without_device();     // the other backends of the table

// The backends of the table. Throw Exit::does_not_fit as make_backend() does.
//
// reference: slow, simple loops that accumulate in double, with which all other backends are compared. It
// runs every operation for every element type, including f64.
std::unique_ptr<Backend> make_reference_backend();
// onednn, the fast one on CPUs: convolutions by oneDNN or our own kernels (onednn/own_convolutions.cpp),
// everything else by our own vectorised and threaded passes. f32, and bf16 with f32 accumulation (fast on
// CPUs with AMX or AVX512-BF16; elsewhere convolutions are computed in f32).
std::unique_ptr<Backend> make_onednn_backend();
// cuda, for NVIDIA GPUs. It is built if the CUDA toolkit is found. It also loads without GPU, driver or
// cuDNN; then it has no devices and reports why.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);
int cuda_device_count();
std::string why_no_cuda_device();  // empty if there is one

// While it lives, kernels of the CPU backends that this thread runs use one core: for threads that work
// beside the training step.
class OneCore {
 public:
  OneCore();
  ~OneCore();
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  int before_;
};

// Adapts a finished step to the backend: fuses sums into kernels where the backend can do so at no cost.
void suit(const Backend& backend, Graph& graph);

}  // namespace voxswap::net
