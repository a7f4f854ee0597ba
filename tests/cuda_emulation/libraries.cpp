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

#define FUNCTION(name) \
  { #name, reinterpret_cast < void*>(&name) }

const std::map<std::string, Functions>& libraries() {
  static const std::map<std::string, Functions> by_file = {
      {"libcudnn.so.9",
       {FUNCTION(cudnnGetVersion), FUNCTION(cudnnGetErrorString), FUNCTION(cudnnGetLastErrorString),
        FUNCTION(cudnnCreate), FUNCTION(cudnnDestroy), FUNCTION(cudnnSetStream),
        FUNCTION(cudnnBackendCreateDescriptor), FUNCTION(cudnnBackendDestroyDescriptor),
        FUNCTION(cudnnBackendSetAttribute), FUNCTION(cudnnBackendGetAttribute),
        FUNCTION(cudnnBackendFinalize), FUNCTION(cudnnBackendExecute)}},
      {"libcublas.so.13",
       {FUNCTION(cublasGetVersion_v2), FUNCTION(cublasGetStatusString), FUNCTION(cublasCreate_v2),
        FUNCTION(cublasDestroy_v2), FUNCTION(cublasSetStream_v2), FUNCTION(cublasSetWorkspace_v2),
        FUNCTION(cublasSetMathMode), FUNCTION(cublasGemmEx_64), FUNCTION(cublasGemmStridedBatchedEx_64)}},
      {"libnccl.so.2",
       {FUNCTION(ncclGetErrorString), FUNCTION(ncclGetUniqueId), FUNCTION(ncclCommInitRank),
        FUNCTION(ncclCommDestroy), FUNCTION(ncclCommAbort), FUNCTION(ncclCommGetAsyncError),
        FUNCTION(ncclGroupStart), FUNCTION(ncclGroupEnd), FUNCTION(ncclSend), FUNCTION(ncclRecv)}}};
  return by_file;
}

#undef FUNCTION

}  // namespace

void* open_library(const char* file) {
  const char* const missing = std::getenv("VOXSWAP_EMULATED_WITHOUT");
  const auto found = libraries().find(file);
  const bool is_there = found != libraries().end() && (missing == nullptr || found->first != missing);
  return is_there ? const_cast<Functions*>(&found->second) : nullptr;
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
