// The middle voxel of each block of a target, row by row.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

struct Subsample {
  const std::uint8_t* x;
  std::uint8_t* y;
  Shape large, small;
  std::int64_t d, h, w, bytes;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t plane = row / small[2], n = plane / small[1], z = plane % small[1];
      const std::int64_t line = (n * large[1] + z * d + d / 2) * large[2] + row % small[2] * h + h / 2;
      const std::uint8_t* from = x + (line * large[3] + w / 2) * bytes;
      std::uint8_t* to = y + row * small[3] * bytes;
      for (std::int64_t i = 0; i < small[3]; ++i)
        for (std::int64_t b = 0; b < bytes; ++b) to[i * bytes + b] = from[i * w * bytes + b];
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_subsample(const Graph& graph, const Node& node) {
  const Shape &large = graph.value(node.inputs[0]).shape, &small = graph.value(node.outputs[0]).shape;
  const std::int64_t d = node.attributes.integer("d"), h = node.attributes.integer("h"),
                     w = node.attributes.integer("w"),
                     bytes = large.rank() == 4 ? 1 : large[4];  // of a voxel
  return make_pass([=](const KernelArguments& arguments) {
    parallel(small[0] * small[1] * small[2], 64,
             Subsample{input<std::uint8_t>(arguments, 0), output<std::uint8_t>(arguments), large, small, d, h,
                       w, bytes});
  });
}

}  // namespace voxswap::net::onednn
