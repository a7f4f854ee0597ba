#include "net/backends/cuda/libraries.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"

namespace voxswap::net::cuda {

namespace {

constexpr std::size_t least_cudnn = 90800;  // plans are made from device properties since 9.8

std::vector<std::string> folders() {
  std::vector<std::string> result = {""};  // the system linker's search path
  const auto add = [&](const std::string& root) {
    for (const char* library_folder : {"lib64", "lib"}) result.push_back(root + "/" + library_folder + "/");
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') add(root);
  }
  // In a wheel, this code is in voxswap/lib, and pip installs NVIDIA's packages next to voxswap.
  if (Dl_info here; dladdr(&least_cudnn, &here) != 0 && *here.dli_fname == '/') {
    const std::string packages = plain(fs::path(here.dli_fname) / "../../..").string();
    for (const std::string& part :
         {format("cu{}", CUBLAS_VER_MAJOR), std::string("cudnn"), std::string("nccl")})
      result.push_back(format("{}/nvidia/{}/lib/", packages, part));
  }
  add("/usr/local/cuda");
  return result;
}

// Null if it is in none of the folders.
void* loaded(const std::string& file) {
  for (const std::string& folder : folders())
    if (void* handle = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

void* open_library(const std::string& file) {
  if (void* handle = loaded(file)) return handle;
  const char* const why = dlerror();
  const std::vector<std::string> all = folders();
  fail(Exit::does_not_fit,
       "the CUDA backend needs {}, which is neither on the system's library path nor in {}. Install it, add "
       "its folder to LD_LIBRARY_PATH, or use {}: cpu (last error: {})",
       file, join({all.begin() + 1, all.end()}, ", "), key::memory_device, why != nullptr ? why : "none");
}

// cuDNN loads and unloads its compiler for every kernel that it compiles, four fifths of the time of making
// plans. While the compiler is open here, it stays.
void keep_compiler() {
  static_cast<void>(loaded(format("libnvrtc.so.{}", CUBLAS_VER_MAJOR)));
}

CudnnLibrary open_cudnn() {
  const EntryPoints in(format("libcudnn.so.{}", CUDNN_MAJOR));
  keep_compiler();
  CudnnLibrary library;
  in.find(library.get_version, "cudnnGetVersion");
  if (library.get_version() < least_cudnn)
    fail(Exit::does_not_fit, "the CUDA backend needs cuDNN 9.8 or later, found {}", library.get_version());
  in.find(library.get_error_string, "cudnnGetErrorString");
  in.find(library.get_last_error_string, "cudnnGetLastErrorString");
  in.find(library.create, "cudnnCreate");
  in.find(library.destroy, "cudnnDestroy");
  in.find(library.set_stream, "cudnnSetStream");
  in.find(library.create_descriptor, "cudnnBackendCreateDescriptor");
  in.find(library.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  in.find(library.set_attribute, "cudnnBackendSetAttribute");
  in.find(library.get_attribute, "cudnnBackendGetAttribute");
  in.find(library.finalize, "cudnnBackendFinalize");
  in.find(library.execute, "cudnnBackendExecute");
  return library;
}

CublasLibrary open_cublas() {
  const EntryPoints in(format("libcublas.so.{}", CUBLAS_VER_MAJOR));
  CublasLibrary library;
  in.find(library.get_version, "cublasGetVersion_v2");
  in.find(library.get_status_string, "cublasGetStatusString");
  in.find(library.create, "cublasCreate_v2");
  in.find(library.destroy, "cublasDestroy_v2");
  in.find(library.set_stream, "cublasSetStream_v2");
  in.find(library.set_workspace, "cublasSetWorkspace_v2");
  in.find(library.set_math_mode, "cublasSetMathMode");
  in.find(library.multiply, "cublasGemmEx_64");
  in.find(library.multiply_batch, "cublasGemmStridedBatchedEx_64");
  return library;
}

}  // namespace

const CudnnLibrary& cudnn_library() {
  static const CudnnLibrary library = open_cudnn();
  return library;
}

const CublasLibrary& cublas_library() {
  static const CublasLibrary library = open_cublas();
  return library;
}

std::string cudnn_version_text() {
  const std::size_t version = cudnn_library().get_version();
  return format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void check(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[1024] = "";
  cudnn_library().get_last_error_string(details, sizeof details);
  fail(Exit::failed, "cuDNN {}: {}: {} ({})", cudnn_version_text(), call,
       cudnn_library().get_error_string(status), details);
}

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(Exit::failed, "cuBLAS: {}: {}", call, cublas_library().get_status_string(status));
}

Libraries::Libraries() {
  check(cudnn_library().create(&cudnn_), "cudnnCreate");
  check(cublas_library().create(&cublas_), "cublasCreate");
}

Libraries::~Libraries() {
  if (cublas_ != nullptr) cublas_library().destroy(cublas_);
  if (cudnn_ != nullptr) cudnn_library().destroy(cudnn_);
}

EntryPoints::EntryPoints(std::string file) : file_(std::move(file)), handle_(open_library(file_)) {}

void* EntryPoints::address(const char* name) const {
  void* const function = dlsym(handle_, name);
  if (function == nullptr)
    fail(Exit::does_not_fit,
         "{} has no function {}, because its version differs from the one that this program was built for",
         file_, name);
  return function;
}

}  // namespace voxswap::net::cuda
