// The middle voxel of each block of a target, one thread per output byte.
#include "net/backends/cuda/indices.cuh"
#include "net/backends/cuda/own_kernels.h"

namespace voxswap::net::cuda {

namespace {

// How many bytes and voxels are made along the axes, and how large their blocks are.
template <class Index>
struct Subsampled {
  Index count, height, width, bytes;  // bytes of a voxel
  std::int64_t d, h, w;
};

template <class Index>
__global__ void subsample(Subsampled<Index> made, const std::uint8_t* x, std::uint8_t* y) {
  const std::int64_t thread = index_of_thread();
  if (thread >= static_cast<std::int64_t>(made.count)) return;
  Index rest = static_cast<Index>(thread);
  const std::int64_t byte = take_axis(rest, made.bytes);
  const std::int64_t column = take_axis(rest, made.width), row = take_axis(rest, made.height);
  const std::int64_t plane = static_cast<std::int64_t>(rest) * made.d + made.d / 2;  // through the samples
  const std::int64_t line =
      plane * static_cast<std::int64_t>(made.height) * made.h + row * made.h + made.h / 2;
  const std::int64_t voxel =
      line * static_cast<std::int64_t>(made.width) * made.w + column * made.w + made.w / 2;
  y[thread] = x[voxel * static_cast<std::int64_t>(made.bytes) + byte];
}

}  // namespace

std::unique_ptr<Kernel> make_subsample(const Graph& graph, const Node& node, Device&) {
  const Shape y = graph.value(node.outputs[0]).shape;
  const std::int64_t d = node.attributes.integer("d"), h = node.attributes.integer("h"),
                     w = node.attributes.integer("w"), bytes = y.rank() == 4 ? 1 : y[4];  // of a voxel
  return make_own([=](const KernelArguments& arguments) {
    for_index(y.count(), [&]<class Index>() {
      const Subsampled<Index> made = {static_cast<Index>(y.count()),
                                      static_cast<Index>(y[2]),
                                      static_cast<Index>(y[3]),
                                      static_cast<Index>(bytes),
                                      d,
                                      h,
                                      w};
      launch("subsample", subsample<Index>, blocks_for(y.count()), block_threads, made,
             input<std::uint8_t>(arguments, 0), output<std::uint8_t>(arguments));
    });
  });
}

}  // namespace voxswap::net::cuda
