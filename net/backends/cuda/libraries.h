// cuDNN and cuBLAS, loaded when the first GPU is opened. The program does not link to them, so it also runs
// on the CPU without them. They are searched for by the system's linker, then in the folder lib64 or lib of
// $CUDA_HOME and $CUDA_PATH, in NVIDIA's packages beside a wheel, and in /usr/local/cuda.
#pragma once

#include <cublas_v2.h>
#include <cudnn.h>

#include <string>
#include <string_view>

namespace voxswap::net::cuda {

// The functions used, named without the library's prefix.
struct CudnnLibrary {
  decltype(&::cudnnGetVersion) get_version = nullptr;
  decltype(&::cudnnGetErrorString) get_error_string = nullptr;
  decltype(&::cudnnGetLastErrorString) get_last_error_string = nullptr;
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnDestroy) destroy = nullptr;
  decltype(&::cudnnSetStream) set_stream = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&::cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&::cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;
};

struct CublasLibrary {
  decltype(&::cublasGetVersion_v2) get_version = nullptr;
  decltype(&::cublasGetStatusString) get_status_string = nullptr;
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasSetStream_v2) set_stream = nullptr;
  decltype(&::cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&::cublasSetMathMode) set_math_mode = nullptr;
  decltype(&::cublasGemmEx_64) multiply = nullptr;
  decltype(&::cublasGemmStridedBatchedEx_64) multiply_batch = nullptr;
};

// Loaded on the first call. Throw Error (Exit::does_not_fit, as for a missing GPU) with the searched paths,
// or the version that is too old.
const CudnnLibrary& cudnn_library();
const CublasLibrary& cublas_library();
std::string cudnn_version_text();  // "9.19.0"

// Throw an error with the call's name and the library's message.
void check(cudnnStatus_t status, std::string_view call);
void check(cublasStatus_t status, std::string_view call);

// The library handles of one device, for one thread at a time. REQUIRES: the device is the thread's current
// one.
class Libraries {
 public:
  Libraries();
  ~Libraries();
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

  cudnnHandle_t cudnn() const { return cudnn_; }
  cublasHandle_t cublas() const { return cublas_; }

 private:
  cudnnHandle_t cudnn_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
};

// Functions of such a library, which is loaded on first use and stays loaded until the program ends.
class EntryPoints {
 public:
  // Throws Exit::does_not_fit, as for a missing GPU, and lists the places searched.
  explicit EntryPoints(std::string file);
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;  // throws if the library has no such function

  std::string file_;
  void* handle_;
};

}  // namespace voxswap::net::cuda
