// Implements include/dlfcn.h: the emulated libraries and their functions by name. VOXSWAP_EMULATED_WITHOUT
// names a library that is missing.
#include <cublas_v2.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <nccl.h>

#include <cstdlib>
#include <map>
#include <string>

namespace voxswap::emulation {

namespace {

using Functions = std::map<std::string, void*>;

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

Functions& cudnn() {
  static Functions functions = {{"cudnnGetVersion", address(cudnnGetVersion)},
                                {"cudnnGetErrorString", address(cudnnGetErrorString)},
                                {"cudnnGetLastErrorString", address(cudnnGetLastErrorString)},
                                {"cudnnCreate", address(cudnnCreate)},
                                {"cudnnDestroy", address(cudnnDestroy)},
                                {"cudnnSetStream", address(cudnnSetStream)},
                                {"cudnnBackendCreateDescriptor", address(cudnnBackendCreateDescriptor)},
                                {"cudnnBackendDestroyDescriptor", address(cudnnBackendDestroyDescriptor)},
                                {"cudnnBackendSetAttribute", address(cudnnBackendSetAttribute)},
                                {"cudnnBackendGetAttribute", address(cudnnBackendGetAttribute)},
                                {"cudnnBackendFinalize", address(cudnnBackendFinalize)},
                                {"cudnnBackendExecute", address(cudnnBackendExecute)}};
  return functions;
}

Functions& cublas() {
  static Functions functions = {{"cublasGetVersion_v2", address(cublasGetVersion_v2)},
                                {"cublasGetStatusString", address(cublasGetStatusString)},
                                {"cublasCreate_v2", address(cublasCreate_v2)},
                                {"cublasDestroy_v2", address(cublasDestroy_v2)},
                                {"cublasSetStream_v2", address(cublasSetStream_v2)},
                                {"cublasSetWorkspace_v2", address(cublasSetWorkspace_v2)},
                                {"cublasSetMathMode", address(cublasSetMathMode)},
                                {"cublasGemmEx_64", address(cublasGemmEx_64)},
                                {"cublasGemmStridedBatchedEx_64", address(cublasGemmStridedBatchedEx_64)}};
  return functions;
}

Functions& nccl() {
  static Functions functions = {{"ncclGetErrorString", address(ncclGetErrorString)},
                                {"ncclGetUniqueId", address(ncclGetUniqueId)},
                                {"ncclCommInitRank", address(ncclCommInitRank)},
                                {"ncclCommDestroy", address(ncclCommDestroy)},
                                {"ncclCommAbort", address(ncclCommAbort)},
                                {"ncclGroupStart", address(ncclGroupStart)},
                                {"ncclGroupEnd", address(ncclGroupEnd)},
                                {"ncclSend", address(ncclSend)},
                                {"ncclRecv", address(ncclRecv)}};
  return functions;
}

}  // namespace

void* open_library(const char* file) {
  const std::string name = file;
  if (const char* const missing = std::getenv("VOXSWAP_EMULATED_WITHOUT");
      missing != nullptr && name == missing)
    return nullptr;
  if (name == "libnccl.so.2") return &nccl();
  return name == "libcudnn.so.9" ? &cudnn() : name == "libcublas.so.13" ? &cublas() : nullptr;
}

void* find_function(void* library, const char* name) {
  const auto& functions = *static_cast<const Functions*>(library);
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

const char* why_not_opened() {
  return "there is no such emulated library";
}

}  // namespace voxswap::emulation
