// The GPU for which kernels are built.
#pragma once

#include <cstdint>
#include <string>

namespace voxswap::net::cuda {

class Libraries;           // libraries.h: cuDNN and cuBLAS on this device
class ConvolutionChoices;  // convolution_choice.h: chosen cuDNN engines

struct Device {
  std::string name;
  int ordinal = 0;           // of cudaSetDevice
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 1;
  std::int64_t memory_bytes = 0;
  // Number of blocks that keeps any device busy. Not this device's number, so that sums are divided alike on
  // all devices.
  std::int64_t enough_blocks = 2048;
  bool tensor_floats = false;  // f32 convolutions may round their factors to TF32
  bool deterministic = true;   // same inputs, same bits
  bool tuned = true;           // engines are chosen by timing
  // Only convolutions need them.
  Libraries* libraries = nullptr;
  ConvolutionChoices* convolutions = nullptr;
};

}  // namespace voxswap::net::cuda
