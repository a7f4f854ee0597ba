// The parts of CUDA's driver API that the CUDA backend uses, for the CPU (gpu.h); replaces CUDA's header of
// this name.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900 };
using CUstream = CUstream_st*;
using CUdeviceptr = unsigned long long;
using cuuint32_t = std::uint32_t;
enum { CU_STREAM_WAIT_VALUE_GEQ = 0 };
