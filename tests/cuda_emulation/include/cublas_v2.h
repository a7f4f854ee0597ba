// The parts of cuBLAS that the CUDA backend uses, for the CPU (cublas.cpp); replaces cuBLAS' header of this
// name.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#define CUBLAS_VER_MAJOR 13

struct cublasContext;
using cublasHandle_t = cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
// C (m x n) = alpha op(A) (m x k) op(B) (k x n) + beta C; all in column-major order.
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                               std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                               const void* a, cudaDataType_t type_a, std::int64_t lda, const void* b,
                               cudaDataType_t type_b, std::int64_t ldb, const void* beta, void* c,
                               cudaDataType_t type_c, std::int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t algorithm);
// The same for `batch` products; consecutive matrices are a stride of elements apart.
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, std::int64_t m, std::int64_t n,
    std::int64_t k, const void* alpha, const void* a, cudaDataType_t type_a, std::int64_t lda,
    long long stride_a, const void* b, cudaDataType_t type_b, std::int64_t ldb, long long stride_b,
    const void* beta, void* c, cudaDataType_t type_c, std::int64_t ldc, long long stride_c,
    std::int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
