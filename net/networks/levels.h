// What the U-Nets of nnU-Net share (Isensee et al., "nnU-Net: a self-configuring method for deep
// learning-based biomedical image segmentation", 2021; the residual encoder: "nnU-Net Revisited", 2024):
// filters, kernels and strides of every level, the block of which both are made, and the decoder. Parameters
// are named as in MIC-DKFZ's dynamic-network-architectures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "net/networks/builder.h"

namespace voxswap::net {

std::int64_t level_channels(const NetworkOptions& options, std::int64_t level);
// The sides of its kernels along x, y, z.
Along level_kernel(const NetworkOptions& options, std::int64_t level);
// By how much the level is smaller than the one above it, along x, y, z.
Along level_stride(const NetworkOptions& options, std::int64_t level);
// The kernel of a level's convolutions, with "same" padding; of the first one, which may be strided.
KernelAxes level_axes(const NetworkOptions& options, std::int64_t level);
KernelAxes strided_level_axes(const NetworkOptions& options, std::int64_t level);

// A network of such levels. Its check throws Exit::usage for kernels, strides and weights of levels that
// there are none of.
Network network_of_levels(const char* name, const char* meaning,
                          ValueId (*build)(NetworkBuilder&, ValueId, std::int64_t outputs));

// Convolution, instance norm, leaky ReLU: parameters NAME.conv and NAME.norm.
ValueId level_block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
                    const KernelAxes& axes);

// From the encoder's volumes, the largest first, to the logits; `convolutions` on every level.
ValueId decode(NetworkBuilder& b, const std::vector<ValueId>& skips, std::int64_t convolutions,
               std::int64_t outputs);

}  // namespace voxswap::net
