#include "pipeline/device/staging.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "base/bfloat16.h"
#include "base/float16.h"
#include "base/parallel.h"

namespace voxswap::pipeline {

namespace {

template <class To, class Convert>
void stage_voxels(std::span<const float> image, const Shape& input, To* to, Convert convert) {
  const auto wide = static_cast<std::size_t>(input[-1]),
             voxels = static_cast<std::size_t>(input.count() / input[-1]), channels = image.size() / voxels;
  assert(channels <= wide && channels * voxels == image.size());
  constexpr std::size_t slice = std::size_t{1} << 18;  // voxels
  parallel_for((voxels + slice - 1) / slice, [&](std::size_t i) {
    const std::size_t begin = i * slice, end = std::min(voxels, begin + slice);
    for (std::size_t voxel = begin; voxel < end; ++voxel) {
      To* const at = to + voxel * wide;
      for (std::size_t c = 0; c < channels; ++c) at[c] = convert(image[voxel * channels + c]);
      std::fill(at + channels, at + wide, To{});  // zero in every type
    }
  });
}

}  // namespace

bool is_staged(std::span<const float> image, const net::Value& input) {
  return input.type == net::ElementType::f32 &&
         static_cast<std::int64_t>(image.size()) == input.shape.count();
}

void stage(std::span<const float> image, const net::Value& input, std::byte* to) {
  auto* const halves = reinterpret_cast<std::uint16_t*>(to);
  switch (input.type) {
    case net::ElementType::bf16:
      return stage_voxels(image, input.shape, halves, [](float x) { return to_bfloat16(x); });
    case net::ElementType::f16:
      return stage_voxels(image, input.shape, halves, [](float x) { return to_float16(x); });
    default:
      return stage_voxels(image, input.shape, reinterpret_cast<float*>(to), [](float x) { return x; });
  }
}

}  // namespace voxswap::pipeline
