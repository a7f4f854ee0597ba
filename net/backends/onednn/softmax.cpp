// Soft-max over the channels of a voxel and its cross entropy: blocks of voxels are the unit of work, and the
// loss adds up those of a plane one after the other, and then planes.
#include <cmath>

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

template <class T>
struct Loss {
  const T* logits;
  const std::uint8_t* target;
  double* sums;                         // per block
  std::int64_t channels, plane, block;  // voxels of a plane, and of a block: no block is of two planes
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t blocks = (plane + block - 1) / block, first = index / blocks * plane;
      const std::int64_t from = index % blocks * block, to = from + block < plane ? from + block : plane;
      double sum = 0;
      for (std::int64_t voxel = first + from; voxel < first + to; ++voxel) {
        const std::int64_t of = target[voxel];
        if (of >= channels) continue;
        const T* x = logits + voxel * channels;
        const VoxelSoftmax v = look_at(x, channels);
        sum += static_cast<double>(v.largest - load<float>(x + of)) + std::log(static_cast<double>(v.sum));
      }
      sums[index] = sum;
    }
  }
};

template <class T>
struct LossGradient {
  const T* logits;
  const std::uint8_t* target;
  T* dlogits;
  float factor;
  std::int64_t channels;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t voxel = begin; voxel < end; ++voxel) {
      const T* x = logits + voxel * channels;
      const std::int64_t of = target[voxel];
      const VoxelSoftmax v = look_at(x, channels);
      const float scale = of < channels ? factor : 0.0f;
      for (std::int64_t c = 0; c < channels; ++c) {
        const float p = probability(v, x + c);
        store(dlogits + voxel * channels + c, scale * (p - (c == of ? 1.0f : 0.0f)));
      }
    }
  }
};

// What the loss of every plane is made of: the sums of its blocks, in the workspace.
struct Planes {
  std::int64_t samples, depth, channels, plane, block, blocks;
  double count;

  Planes(const Graph& graph, const Node& node) : count(node.attributes.real("count")) {
    const Shape& x = input_shape(graph, node);
    samples = x[0];
    depth = x[1];
    channels = x[4];
    plane = x[2] * x[3];
    block = block_of(channels);
    blocks = (plane + block - 1) / block;
  }
  std::int64_t all_blocks() const { return samples * depth * blocks; }
  std::int64_t bytes() const { return all_blocks() * static_cast<std::int64_t>(sizeof(double)); }
  double loss(const KernelArguments& arguments, std::int64_t of) const {
    const double* sums = place<double>(arguments, 0) + of * blocks;
    double sum = 0;
    for (std::int64_t i = 0; i < blocks; ++i) sum += sums[i];
    return sum / count;
  }
};

template <class T>
void find_losses(const KernelArguments& arguments, const Planes& planes) {
  parallel(planes.all_blocks(), 1,
           Loss<T>{input<T>(arguments, 0), input<std::uint8_t>(arguments, 1), place<double>(arguments, 0),
                   planes.channels, planes.plane, planes.block});
}

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

std::unique_ptr<Kernel> make_softmax_cross_entropy(const Graph& graph, const Node& node) {
  const Planes planes(graph, node);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          find_losses<T>(arguments, planes);
          double all = 0;
          for (std::int64_t n = 0; n < planes.samples; ++n) {
            double sample = 0;
            for (std::int64_t z = 0; z < planes.depth; ++z)
              sample += planes.loss(arguments, n * planes.depth + z);
            all += sample;
          }
          *output<float>(arguments) = static_cast<float>(all);
        },
        planes.bytes());
  });
}

std::unique_ptr<Kernel> make_cross_entropy_plane_sums(const Graph& graph, const Node& node) {
  const Planes planes(graph, node);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          find_losses<T>(arguments, planes);
          for (std::int64_t i = 0; i < planes.samples * planes.depth; ++i)
            output<double>(arguments)[i] = planes.loss(arguments, i);
        },
        planes.bytes());
  });
}

std::unique_ptr<Kernel> make_softmax_cross_entropy_gradient(const Graph& graph, const Node& node) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  const double count = node.attributes.real("count");
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      const auto factor = static_cast<float>(*input<float>(arguments, 2) / count);
      parallel(voxels, block_of(channels),
               LossGradient<T>{input<T>(arguments, 0), input<std::uint8_t>(arguments, 1),
                               output<T>(arguments), factor, channels});
    });
  });
}

}  // namespace voxswap::net::onednn
