// Soft-max over the channels of a voxel. The units of work are blocks of voxels.
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/onednn/voxel_softmax.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

namespace {

template <class T>
struct Softmax {
  const T* x;
  T* y;
  std::int64_t channels;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t voxel = begin; voxel < end; ++voxel) {
      const T* from = x + voxel * channels;
      const VoxelSoftmax v = look_at(from, channels);
      for (std::int64_t c = 0; c < channels; ++c) store(y + voxel * channels + c, probability(v, from + c));
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_softmax(const Graph& graph, const Node& node) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(voxels, block_of(channels),
               Softmax<T>{input<T>(arguments, 0), output<T>(arguments), channels});
    });
  });
}

}  // namespace voxswap::net::onednn
