// Operations that move elements: concatenation, split, upsampling, max pooling, subsampling.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

// Copies `bytes` of every row between strided locations.
struct CopyRows {
  const std::byte* from;
  std::byte* to;
  std::int64_t bytes, from_stride, to_stride;

  VOXSWAP_INLINE void operator()(std::int64_t row) const {
    copy_bytes(to + row * to_stride, from + row * from_stride, bytes);
  }
};
struct CopyTwo {
  CopyRows a, b;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) {
      a(row);
      b(row);
    }
  }
};
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
Blocks blocks(const Shape& coarse) {
  Blocks b{coarse[0] * coarse[1] * coarse[2], coarse[1], coarse[2], coarse[3], coarse[4], {}};
  const std::int64_t line = 2 * b.width * b.channels, plane = 2 * b.height * line;
  for (int i = 0; i < 8; ++i) {
    b.corner[i] = (i & 4 ? plane : 0) + (i & 2 ? line : 0) + (i & 1 ? b.channels : 0);
  }
  return b;
}
// Coarse rows given to a thread at once.
std::int64_t coarse_rows_at_once(const Blocks& b) {
  return std::max<std::int64_t>(1, 8192 / (b.width * b.channels));
}

// Runs body.channels<V>(coarse element, fine element) over all channels of all blocks of the rows.
template <class Body>
struct BlockTask {
  Blocks blocks;
  Body body;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Body own_body = body;  // copies that no store can alias stay in registers
    const Blocks own = blocks;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t coarse = own.coarse(row), fine = own.fine(row);
      for (std::int64_t x = 0; x < own.width; ++x) {
        const std::int64_t to = coarse + x * own.channels, from = fine + 2 * x * own.channels;
        std::int64_t c = 0;
        for (; c + 16 <= own.channels; c += 16) own_body.template channels<Floats>(to + c, from + c, own);
        for (; c < own.channels; ++c) own_body.template channels<float>(to + c, from + c, own);
      }
    }
  }
};
template <class Body>
void for_each_block(const Blocks& b, const Body& body) {
  parallel(b.rows, coarse_rows_at_once(b), BlockTask<Body>{b, body});
}

template <class T>
struct Upsample {
  const T* x;
  T* y;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    const V value = load<V>(x + coarse);
    for (int i = 0; i < 8; ++i) store(y + fine + b.corner[i], value);
  }
};

template <class T>
struct UpsampleGradient {
  const T* dy;
  T* dx;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    V sum{};
    for (int i = 0; i < 8; ++i) sum += load<V>(dy + fine + b.corner[i]);
    store(dx + coarse, sum);
  }
};

template <class T>
struct MaxPool {
  const T* x;
  T* y;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    V most = load<V>(x + fine);
    for (int i = 1; i < 8; ++i) {
      const V next = load<V>(x + fine + b.corner[i]);
      most = next > most ? next : most;
    }
    store(y + coarse, most);
  }
};

template <class T>
struct MaxPoolGradient {
  const T *x, *dy;
  T* dx;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    V most = load<V>(x + fine), first{};  // the corner of the first maximum
    for (int i = 1; i < 8; ++i) {
      const V next = load<V>(x + fine + b.corner[i]), here = all_lanes<V>(static_cast<float>(i));
      first = next > most ? here : first;
      most = next > most ? next : most;
    }
    const V gradient = load<V>(dy + coarse);
    for (int i = 0; i < 8; ++i) {
      const V here = all_lanes<V>(static_cast<float>(i));
      store(dx + fine + b.corner[i], V(first == here ? gradient : V{}));
    }
  }
};

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

}  // namespace

std::unique_ptr<Kernel> make_concat(const Graph& graph, const Node& node) {
  const std::int64_t axis = node.attributes.integer("axis"), size = element_bytes(input_type(graph, node));
  const std::int64_t a = input_shape(graph, node, 0).count_from(axis) * size;
  const std::int64_t b = input_shape(graph, node, 1).count_from(axis) * size;
  const std::int64_t rows = graph.value(node.inputs[0]).bytes() / a;
  return make_pass([=](const KernelArguments& arguments) {
    auto* y = output<std::byte>(arguments);
    const CopyRows left{input<std::byte>(arguments, 0), y, a, a, a + b};
    const CopyRows right{input<std::byte>(arguments, 1), y + a, b, b, a + b};
    parallel(rows, rows_at_once(a + b), CopyTwo{left, right});
  });
}

std::unique_ptr<Kernel> make_split(const Graph& graph, const Node& node) {
  const std::int64_t axis = node.attributes.integer("axis"), size = element_bytes(input_type(graph, node));
  const std::int64_t both = input_shape(graph, node).count_from(axis) * size;
  const std::int64_t a = output_shape(graph, node).count_from(axis) * size, b = both - a;
  const std::int64_t rows = graph.value(node.inputs[0]).bytes() / both;
  return make_pass([=](const KernelArguments& arguments) {
    const auto* x = input<std::byte>(arguments, 0);
    const CopyRows left{x, output<std::byte>(arguments, 0), a, both, a};
    const CopyRows right{x + a, output<std::byte>(arguments, 1), b, both, b};
    parallel(rows, rows_at_once(both), CopyTwo{left, right});
  });
}

std::unique_ptr<Kernel> make_upsample_nearest(const Graph& graph, const Node& node) {
  return make_on_blocks<Upsample, 0>(graph, node, input_shape(graph, node));
}
std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph& graph, const Node& node) {
  return make_on_blocks<UpsampleGradient, 0>(graph, node, output_shape(graph, node));
}
std::unique_ptr<Kernel> make_max_pool(const Graph& graph, const Node& node) {
  return make_on_blocks<MaxPool, 0>(graph, node, output_shape(graph, node));
}
std::unique_ptr<Kernel> make_max_pool_gradient(const Graph& graph, const Node& node) {
  return make_on_blocks<MaxPoolGradient, 0, 1>(graph, node, input_shape(graph, node, 1));
}

// Takes the middle voxel of each block of a target, row by row.

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
