# voxswap_backend_cuda: built if the CUDA toolkit with the headers of cuDNN and cuBLAS is found, otherwise skipped with
# one line of output. Only CUDA's runtime is linked, statically; cuDNN, cuBLAS and the driver are loaded when needed, so
# the program starts without them.
option(VOXSWAP_CUDA "build the CUDA backend where the toolkit is found" ON)
if(NOT VOXSWAP_CUDA)
  message(STATUS "CUDA backend: left out (VOXSWAP_CUDA is off)")
  return()
endif()

# CMake 3.25 sets a property of this target, but does not create it for toolkit 13, which lacks the library.
if(NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit QUIET)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDNN_ROOT PATH_SUFFIXES include)
find_path(CUBLAS_INCLUDE_DIR cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT CUDAToolkit_NVCC_EXECUTABLE OR NOT CUDNN_INCLUDE_DIR OR NOT CUBLAS_INCLUDE_DIR)
  message(STATUS "CUDA backend: left out (no CUDA toolkit with nvcc, cuBLAS and cuDNN 9 was found)")
  return()
endif()
if(CUDAToolkit_VERSION VERSION_LESS 12.5)
  message(STATUS "CUDA backend: left out (it needs CUDA 12.5 or later, found ${CUDAToolkit_VERSION})")
  return()
endif()

# Machine code for Turing (the oldest tensor cores that CUDA 13 supports), Ampere, Hopper and Blackwell, and PTX of the
# newest for later GPUs. For a quick build: -DCMAKE_CUDA_ARCHITECTURES=90-real
if(NOT CMAKE_CUDA_ARCHITECTURES)
  if(CUDAToolkit_VERSION VERSION_LESS 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 100)
  endif()
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know nvcc's option
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_FLAGS_RELEASE "-O3")  # asserts stay on, as in C++
# Allows constexpr functions on the device (base/philox.h).
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --expt-relaxed-constexpr")
message(STATUS "CUDA backend: CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")

file(GLOB cuda CONFIGURE_DEPENDS backends/cuda/*.cpp backends/cuda/*.cu)
add_library(voxswap_backend_cuda STATIC ${cuda})
target_include_directories(voxswap_backend_cuda PRIVATE backends/cuda/ptx)
target_include_directories(voxswap_backend_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS} ${CUDNN_INCLUDE_DIR})
target_link_libraries(voxswap_backend_cuda PUBLIC voxswap_backend_cpu PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
