// Passes over a volume and one with half its sides, block by block: upsampling and max pooling by 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

// A fine tensor and one with half its sides. The unit of work is a coarse row (all x at one n, z, y). The
// block of a coarse voxel is the eight fine voxels at `corner`s of the block's first.
struct Blocks {
  std::int64_t rows = 0, depth = 0, height = 0, width = 0, channels = 0;  // of the coarse tensor
  std::int64_t corner[8] = {};                                            // in elements, in scan order

  std::int64_t coarse(std::int64_t row) const { return row * width * channels; }
  std::int64_t fine(std::int64_t row) const {
    const std::int64_t y = row % height, plane = row / height;  // plane = n * depth + z
    return ((plane * 2) * (height * 2) + y * 2) * (width * 2) * channels;
  }
};
inline Blocks blocks(const Shape& coarse) {
  Blocks b{coarse[0] * coarse[1] * coarse[2], coarse[1], coarse[2], coarse[3], coarse[4], {}};
  const std::int64_t line = 2 * b.width * b.channels, plane = 2 * b.height * line;
  for (int i = 0; i < 8; ++i) {
    b.corner[i] = (i & 4 ? plane : 0) + (i & 2 ? line : 0) + (i & 1 ? b.channels : 0);
  }
  return b;
}
// Coarse rows given to a thread at once.
inline std::int64_t coarse_rows_at_once(const Blocks& b) {
  return std::max<std::int64_t>(1, 8192 / (b.width * b.channels));
}

// Runs body.channels<V>(coarse element, fine element) over all channels of all blocks of the rows.
template <class Body>
struct BlockTask {
  Blocks blocks;
  Body body;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Body own_body = body;  // copies that no store can alias stay in registers
    const Blocks own = blocks;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t coarse = own.coarse(row), fine = own.fine(row);
      for (std::int64_t x = 0; x < own.width; ++x) {
        const std::int64_t to = coarse + x * own.channels, from = fine + 2 * x * own.channels;
        std::int64_t c = 0;
        for (; c + lane_count <= own.channels; c += lane_count)
          own_body.template channels<Floats>(to + c, from + c, own);
        for (; c < own.channels; ++c) own_body.template channels<float>(to + c, from + c, own);
      }
    }
  }
};
template <class Body>
void for_each_block(const Blocks& b, const Body& body) {
  parallel(b.rows, coarse_rows_at_once(b), BlockTask<Body>{b, body});
}

// A kernel that runs Body, which takes these inputs, for the blocks of a coarse shape.
template <template <class> class Body, std::size_t... inputs>
std::unique_ptr<Kernel> make_on_blocks(const Graph& graph, const Node& node, const Shape& coarse) {
  const Blocks b = blocks(coarse);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      for_each_block(b, Body<T>{input<T>(arguments, inputs)..., output<T>(arguments)});
    });
  });
}

}  // namespace voxswap::net::onednn
