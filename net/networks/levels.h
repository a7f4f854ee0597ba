// Shared parts of nnU-Net's U-Nets (Isensee et al., "nnU-Net: a self-configuring method for deep
// learning-based biomedical image segmentation", 2021; residual encoder: "nnU-Net Revisited", 2024): filters,
// kernels and strides per level, their common block, and the decoder. Parameter names are those of MIC-DKFZ's
// dynamic-network-architectures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "net/networks/builder.h"

namespace voxswap::net {

std::int64_t level_channels(const NetworkOptions& options, std::int64_t level);
// Kernel sides of a level along x, y, z.
Along level_kernel(const NetworkOptions& options, std::int64_t level);
// Downsampling factor from the level above, along x, y, z.
Along level_stride(const NetworkOptions& options, std::int64_t level);
// Kernel of a level's convolutions, with "same" padding; and that of its first one, which may be strided.
KernelAxes level_axes(const NetworkOptions& options, std::int64_t level);
KernelAxes strided_level_axes(const NetworkOptions& options, std::int64_t level);

// A row of the network table. Its check throws Exit::usage for kernels, strides or loss weights of levels
// that do not exist.
Network network_of_levels(const char* name, const char* meaning,
                          ValueId (*build)(NetworkBuilder&, ValueId, std::int64_t outputs));

// Convolution, instance norm, leaky ReLU. Parameters NAME.conv and NAME.norm.
ValueId level_block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
                    const KernelAxes& axes);

// From the encoder's outputs, the largest first, to the logits, with `convolutions` per level.
ValueId decode(NetworkBuilder& b, const std::vector<ValueId>& skips, std::int64_t convolutions,
               std::int64_t outputs);

}  // namespace voxswap::net
