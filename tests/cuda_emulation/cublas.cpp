// cuBLAS' matrix product on the emulated GPU: plain loops in double precision, as its documentation defines
// it. It overwrites the workspace, as the library may.
#include <cublas_v2.h>

#include <cstddef>
#include <vector>

#include "base/float16.h"
#include "net/backends/reference/elements.h"
#include "tests/cuda_emulation/gpu.h"

namespace {

using voxswap::net::ElementType;

ElementType element(cudaDataType_t type) {
  return type == CUDA_R_32F ? ElementType::f32 : type == CUDA_R_16F ? ElementType::f16 : ElementType::bf16;
}
std::int64_t bytes_of(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : 2;
}

// A matrix of rows x columns in column-major order, with columns `stride` elements apart.
struct Matrix {
  const void* data;
  cudaDataType_t type;
  std::int64_t rows, columns, stride;

  std::int64_t elements() const { return stride * (columns - 1) + rows; }
  std::vector<double> values() const {
    std::vector<double> result(static_cast<std::size_t>(elements()));
    voxswap::net::load_elements(result.data(), data, element(type), elements());
    return result;
  }
  bool lies_well() const {
    return stride >= rows &&
           reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(bytes_of(type)) == 0 &&
           voxswap::emulation::in_device_memory(data, elements() * bytes_of(type));
  }
};

}  // namespace

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an invalid value";
}
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
// By the documentation, this resets the user's workspace.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  *handle = {stream, nullptr, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0 ||
      !voxswap::emulation::in_device_memory(workspace, static_cast<std::int64_t>(bytes)))
    return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                               std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                               const void* a, cudaDataType_t type_a, std::int64_t lda, const void* b,
                               cudaDataType_t type_b, std::int64_t ldb, const void* beta, void* c,
                               cudaDataType_t type_c, std::int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t) {
  const bool a_turned = of_a == CUBLAS_OP_T, b_turned = of_b == CUBLAS_OP_T;
  const Matrix left = {a, type_a, a_turned ? k : m, a_turned ? m : k, lda},
               right = {b, type_b, b_turned ? n : k, b_turned ? k : n, ldb}, result = {c, type_c, m, n, ldc};
  for (const Matrix* matrix : {&left, &right, &result})
    if (matrix->rows < 1 || matrix->columns < 1 || !matrix->lies_well()) return CUBLAS_STATUS_INVALID_VALUE;
  // The combinations of types that the documentation lists for 32-bit arithmetic.
  const bool half = type_a != CUDA_R_32F;
  if (type_a != type_b || (type_c != type_a && type_c != CUDA_R_32F) ||
      (half && compute != CUBLAS_COMPUTE_32F))
    return CUBLAS_STATUS_INVALID_VALUE;
  const double scale = *static_cast<const float*>(alpha), kept = *static_cast<const float*>(beta);
  void* const workspace = handle->workspace;
  const auto workspace_bytes = static_cast<std::int64_t>(handle->workspace_bytes);
  voxswap::emulation::enqueue(handle->stream, [=] {
    if (workspace != nullptr) voxswap::emulation::scribble(workspace, workspace_bytes);
    const std::vector<double> x = left.values(), y = right.values();
    std::vector<double> z = result.values();
    const std::int64_t step_a = a_turned ? 1 : lda, step_b = b_turned ? ldb : 1;
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t row = 0; row < m; ++row) {
        const double* at_a = x.data() + row * (a_turned ? lda : 1);
        const double* at_b = y.data() + column * (b_turned ? 1 : ldb);
        double sum = 0;
        for (std::int64_t i = 0; i < k; ++i) sum += at_a[i * step_a] * at_b[i * step_b];
        double& place = z[static_cast<std::size_t>(column * ldc + row)];
        place = scale * sum + (kept == 0 ? 0 : kept * place);
      }
    }
    // Stores column by column: the gaps between columns do not belong to this matrix.
    for (std::int64_t column = 0; column < n; ++column)
      voxswap::net::store_elements(static_cast<std::byte*>(c) + column * ldc * bytes_of(type_c),
                                   z.data() + column * ldc, element(type_c), m);
  });
  return CUBLAS_STATUS_SUCCESS;
}

// Runs the products one after the other: none writes what another reads.
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, std::int64_t m, std::int64_t n,
    std::int64_t k, const void* alpha, const void* a, cudaDataType_t type_a, std::int64_t lda,
    long long stride_a, const void* b, cudaDataType_t type_b, std::int64_t ldb, long long stride_b,
    const void* beta, void* c, cudaDataType_t type_c, std::int64_t ldc, long long stride_c,
    std::int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  if (batch < 1 || stride_c < m * n) return CUBLAS_STATUS_INVALID_VALUE;
  for (std::int64_t i = 0; i < batch; ++i) {
    const cublasStatus_t status = cublasGemmEx_64(
        handle, of_a, of_b, m, n, k, alpha,
        static_cast<const std::byte*>(a) + i * stride_a * bytes_of(type_a), type_a, lda,
        static_cast<const std::byte*>(b) + i * stride_b * bytes_of(type_b), type_b, ldb, beta,
        static_cast<std::byte*>(c) + i * stride_c * bytes_of(type_c), type_c, ldc, compute, algorithm);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
