// What our kernels and their launches use of CUDA's runtime, for the CPU (emulation.h). Found by the compiler
// in place of CUDA's own header of this name; names are CUDA's.
#pragma once

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // there is one, and it runs at once: any value will do

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
};

inline const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration" : "an error";
}
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "a device cannot run so many threads or blocks" : "failed";
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
