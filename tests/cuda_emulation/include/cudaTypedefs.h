// Replaces CUDA's header of this name (cuda.h).
#pragma once

#include <cuda.h>

using PFN_cuStreamWaitValue32_v11070 = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
