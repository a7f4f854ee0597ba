// Resampling: upsampling by 2, subsampling of targets, and linear interpolation.
#include <vector>

#include "net/backends/onednn/blocks.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/axes.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

// Nearest-neighbour upsampling, and its gradient.

namespace {

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

}  // namespace

std::unique_ptr<Kernel> make_upsample_nearest(const Graph& graph, const Node& node) {
  return make_on_blocks<Upsample, 0>(graph, node, input_shape(graph, node));
}
std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph& graph, const Node& node) {
  return make_on_blocks<UpsampleGradient, 0>(graph, node, output_shape(graph, node));
}
// Linear interpolation and its gradient.

namespace {

// For each output of an axis, the inputs that it interpolates (net/ops/resampling.cpp), and for each input
// its outputs.
struct Shares {
  std::vector<std::int64_t> low, high;   // inputs, per output
  std::vector<float> of_high;            // weight of the second one
  std::vector<std::int64_t> first, end;  // outputs, per input

  // For the part of the axis that is here: `side` positions of x and `outputs` of y.
  Shares(const LinearAxis& axis, std::int64_t side, std::int64_t outputs)
      : first(static_cast<std::size_t>(side), outputs), end(static_cast<std::size_t>(side), 0) {
    for (std::int64_t o = 0; o < outputs; ++o) {
      const LinearAxis::Between between = axis.between_here(o);
      low.push_back(between.low);
      high.push_back(between.high);
      of_high.push_back(static_cast<float>(between.of_high));
      for (const std::int64_t i : {between.low, between.high}) {
        if (i < 0 || i >= side) continue;  // in another part of the volume
        const auto at_i = static_cast<std::size_t>(i);
        first[at_i] = std::min(first[at_i], o);
        end[at_i] = std::max(end[at_i], o + 1);
      }
    }
  }
  VOXSWAP_INLINE float weight(std::int64_t o, std::int64_t i) const {
    const auto at = static_cast<std::size_t>(o);
    return (low[at] == i ? 1.0f - of_high[at] : 0.0f) + (high[at] == i ? of_high[at] : 0.0f);
  }
};

struct Resize {
  Shape from, to;  // of the forward pass
  Shares z, y, x;
  Resize(const Attributes& attributes, const Shape& in, const Shape& out)
      : from(in),
        to(out),
        z(linear_depth(attributes, in, out), in[1], out[1]),
        y({in[2], out[2]}, in[2], out[2]),
        x({in[3], out[3]}, in[3], out[3]) {}
};

// A row of y at a time.
template <class T>
struct Forward {
  const Resize& resize;
  const T* x;
  T* y;

  struct Place {
    const T* corners[8];
    float weights[8];
    T* to;
    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      V sum = load<V>(corners[0] + c) * weights[0];
      for (int i = 1; i < 8; ++i) sum += load<V>(corners[i] + c) * weights[i];
      store(to + c, sum);
    }
  };
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Shape &from = resize.from, &to = resize.to;
    const std::int64_t channels = to[4];
    for (std::int64_t row = begin; row < end; ++row) {
      const auto oy = static_cast<std::size_t>(row % to[2]),
                 oz = static_cast<std::size_t>(row / to[2] % to[1]);
      const std::int64_t n = row / to[2] / to[1];
      for (std::int64_t ox = 0; ox < to[3]; ++ox) {
        const auto at_x = static_cast<std::size_t>(ox);
        Place place;
        for (int i = 0; i < 8; ++i) {
          const std::int64_t iz = i & 4 ? resize.z.high[oz] : resize.z.low[oz],
                             iy = i & 2 ? resize.y.high[oy] : resize.y.low[oy],
                             ix = i & 1 ? resize.x.high[at_x] : resize.x.low[at_x];
          place.corners[i] = x + (((n * from[1] + iz) * from[2] + iy) * from[3] + ix) * channels;
          const float wz = resize.z.of_high[oz], wy = resize.y.of_high[oy], wx = resize.x.of_high[at_x];
          place.weights[i] = (i & 4 ? wz : 1.0f - wz) * (i & 2 ? wy : 1.0f - wy) * (i & 1 ? wx : 1.0f - wx);
        }
        place.to = y + (row * to[3] + ox) * channels;
        over_channels<Floats>(channels, place);
      }
    }
  }
};

// A row of x at a time: each of its voxels gathers the gradients of the outputs that read it.
template <class T>
struct Backward {
  const Resize& resize;
  const T* dy;
  T* dx;

  struct Place {
    const Backward& of;
    std::int64_t n, iz, iy, ix;
    T* to;
    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      const Resize& r = of.resize;
      const auto z = static_cast<std::size_t>(iz), y = static_cast<std::size_t>(iy),
                 x = static_cast<std::size_t>(ix);
      V sum{};
      for (std::int64_t oz = r.z.first[z]; oz < r.z.end[z]; ++oz)
        for (std::int64_t oy = r.y.first[y]; oy < r.y.end[y]; ++oy) {
          const float weight = r.z.weight(oz, iz) * r.y.weight(oy, iy);
          const T* row = of.dy + (((n * r.to[1] + oz) * r.to[2] + oy) * r.to[3]) * r.to[4] + c;
          for (std::int64_t ox = r.x.first[x]; ox < r.x.end[x]; ++ox)
            sum += load<V>(row + ox * r.to[4]) * (weight * r.x.weight(ox, ix));
        }
      store(to + c, sum);
    }
  };
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Shape& from = resize.from;
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t ix = 0; ix < from[3]; ++ix)
        over_channels<Floats>(from[4], Place{*this, row / from[2] / from[1], row / from[2] % from[1],
                                             row % from[2], ix, dx + (row * from[3] + ix) * from[4]});
  }
};

}  // namespace

std::unique_ptr<Kernel> make_resize_linear(const Graph& graph, const Node& node) {
  const auto resize =
      std::make_shared<Resize>(node.attributes, input_shape(graph, node), output_shape(graph, node));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      const Shape& to = resize->to;
      parallel(to[0] * to[1] * to[2], 1, Forward<T>{*resize, input<T>(arguments, 0), output<T>(arguments)});
    });
  });
}

std::unique_ptr<Kernel> make_resize_linear_gradient(const Graph& graph, const Node& node) {
  const auto resize =
      std::make_shared<Resize>(node.attributes, output_shape(graph, node), input_shape(graph, node));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      const Shape& from = resize->from;
      parallel(from[0] * from[1] * from[2], 1,
               Backward<T>{*resize, input<T>(arguments, 0), output<T>(arguments)});
    });
  });
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
