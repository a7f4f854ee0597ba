// The plain U-Net of nnU-Net (net/networks/levels.h): two convolutions per level in encoder and decoder. The
// first of an encoder level is strided.
#include "base/text.h"
#include "net/networks/levels.h"

namespace voxswap::net {

namespace {

constexpr std::int64_t convolutions = 2;  // per level

ValueId build(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x = input;
  for (std::int64_t level = 0; level < b.options.depth; ++level) {
    for (std::int64_t i = 0; i < convolutions; ++i)
      x = level_block(b, format("encoder.stages.{}.0.convs.{}", level, i), x,
                      level_channels(b.options, level),
                      i == 0 ? strided_level_axes(b.options, level) : level_axes(b.options, level));
    skips.push_back(x);
  }
  return decode(b, skips, convolutions, outputs);
}

}  // namespace

const Network& plain_unet() {
  static const Network network = network_of_levels("plain_unet", "nnU-Net's U-Net", build);
  return network;
}

}  // namespace voxswap::net
