// The GPU that kernels are made for.
#pragma once

#include <cstdint>
#include <string>

namespace voxswap::net::cuda {

class Libraries;           // libraries.h: cuDNN and cuBLAS on this device
class ConvolutionChoices;  // convolution_choice.h: which of cuDNN's engines convolves what

struct Device {
  std::string name;
  int ordinal = 0;           // of cudaSetDevice
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 1;
  std::int64_t memory_bytes = 0;
  // Blocks that keep any device busy. Not this one's own number, so that sums are cut the same on all of
  // them.
  std::int64_t enough_blocks = 2048;
  bool tensor_floats = false;  // f32 convolutions may round their factors to TF32
  bool deterministic = true;   // the same bits for the same inputs, always
  bool tuned = true;           // engines are chosen by their time
  // Only convolutions need them.
  Libraries* libraries = nullptr;
  ConvolutionChoices* convolutions = nullptr;
};

}  // namespace voxswap::net::cuda
