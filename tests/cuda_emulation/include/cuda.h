// What the CUDA backend uses of CUDA's driver, for the CPU (gpu.h), in place of CUDA's own header of this
// name.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900 };
using CUstream = CUstream_st*;
using CUdeviceptr = unsigned long long;
using cuuint32_t = std::uint32_t;
enum { CU_STREAM_WAIT_VALUE_GEQ = 0 };
