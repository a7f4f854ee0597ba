// The maximum under a sliding kernel, and its gradient: rows of y, and rows of x, are the units of work.
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/graph.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::onednn {

namespace {

struct Axis {
  std::int64_t kernel, stride, before, input, output;

  VOXSWAP_INLINE std::int64_t from(std::int64_t o) const {  // the first input position under the kernel
    const std::int64_t start = o * stride - before;
    return start < 0 ? 0 : start;
  }
  VOXSWAP_INLINE std::int64_t to(std::int64_t o) const {  // behind the last
    const std::int64_t end = o * stride - before + kernel;
    return end < input ? end : input;
  }
  // The outputs first <= o < end under whose kernels an input position lies.
  VOXSWAP_INLINE std::int64_t first_over(std::int64_t i) const {
    const std::int64_t least = i + before - kernel + 1;
    return least <= 0 ? 0 : (least + stride - 1) / stride;
  }
  VOXSWAP_INLINE std::int64_t end_over(std::int64_t i) const {
    const std::int64_t end = (i + before) / stride + 1;
    return end < output ? end : output;
  }
};

struct Pool {
  Axis z, y, x;
  std::int64_t channels;

  Pool(const Shape& in, const Shape& out, const KernelAxes& axes)
      : z(axis(in, out, axes, 0)), y(axis(in, out, axes, 1)), x(axis(in, out, axes, 2)), channels(in[4]) {}
  // Elements of the first channel of a place of x, and of y.
  VOXSWAP_INLINE std::int64_t in(std::int64_t n, std::int64_t iz, std::int64_t iy, std::int64_t ix) const {
    return (((n * z.input + iz) * y.input + iy) * x.input + ix) * channels;
  }
  VOXSWAP_INLINE std::int64_t out(std::int64_t n, std::int64_t oz, std::int64_t oy, std::int64_t ox) const {
    return (((n * z.output + oz) * y.output + oy) * x.output + ox) * channels;
  }

 private:
  static Axis axis(const Shape& in, const Shape& out, const KernelAxes& axes, int i) {
    const KernelAxis& a = axes[static_cast<std::size_t>(i)];
    return {a.kernel, a.stride, a.before, in[i + 1], out[i + 1]};
  }
};

template <class T>
struct Forward {
  Pool pool;
  const T* x;
  T* y;

  struct Place {
    const Forward& of;
    std::int64_t n, oz, oy, ox;
    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      const Pool& p = of.pool;
      V most = load<V>(of.x + p.in(n, p.z.from(oz), p.y.from(oy), p.x.from(ox)) + c);
      for (std::int64_t iz = p.z.from(oz); iz < p.z.to(oz); ++iz)
        for (std::int64_t iy = p.y.from(oy); iy < p.y.to(oy); ++iy)
          for (std::int64_t ix = p.x.from(ox); ix < p.x.to(ox); ++ix) {
            const V next = load<V>(of.x + p.in(n, iz, iy, ix) + c);
            most = next > most ? next : most;
          }
      store(of.y + p.out(n, oz, oy, ox) + c, most);
    }
  };
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Forward own = *this;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t oy = row % own.pool.y.output, plane = row / own.pool.y.output;
      for (std::int64_t ox = 0; ox < own.pool.x.output; ++ox)
        over_channels(own.pool.channels,
                      Place{own, plane / own.pool.z.output, plane % own.pool.z.output, oy, ox});
    }
  }
};

// An element of x takes the gradients of all kernels over it whose first maximum it is: it is larger than all
// that come before it under the kernel, and no smaller than those behind.
template <class T>
struct Backward {
  Pool pool;
  const T *x, *dy;
  T* dx;

  struct Place {
    const Backward& of;
    std::int64_t n, iz, iy, ix;

    template <class V>
    VOXSWAP_INLINE V taken(std::int64_t c, const V& own, std::int64_t oz, std::int64_t oy,
                           std::int64_t ox) const {
      const Pool& p = of.pool;
      V gradient = load<V>(of.dy + p.out(n, oz, oy, ox) + c);
      const std::int64_t here = p.in(n, iz, iy, ix);
      for (std::int64_t z = p.z.from(oz); z < p.z.to(oz); ++z)
        for (std::int64_t y = p.y.from(oy); y < p.y.to(oy); ++y)
          for (std::int64_t x = p.x.from(ox); x < p.x.to(ox); ++x) {
            const std::int64_t there = p.in(n, z, y, x);
            if (there == here) continue;
            const V other = load<V>(of.x + there + c);
            if (there < here) {
              gradient = own > other ? gradient : V{};
            } else {
              gradient = other > own ? V{} : gradient;
            }
          }
      return gradient;
    }
    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      const Pool& p = of.pool;
      const V own = load<V>(of.x + p.in(n, iz, iy, ix) + c);
      V sum{};
      for (std::int64_t oz = p.z.first_over(iz); oz < p.z.end_over(iz); ++oz)
        for (std::int64_t oy = p.y.first_over(iy); oy < p.y.end_over(iy); ++oy)
          for (std::int64_t ox = p.x.first_over(ix); ox < p.x.end_over(ix); ++ox)
            sum += taken<V>(c, own, oz, oy, ox);
      store(of.dx + p.in(n, iz, iy, ix) + c, sum);
    }
  };
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Backward own = *this;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t iy = row % own.pool.y.input, plane = row / own.pool.y.input;
      for (std::int64_t ix = 0; ix < own.pool.x.input; ++ix)
        over_channels(own.pool.channels,
                      Place{own, plane / own.pool.z.input, plane % own.pool.z.input, iy, ix});
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sliding_max_pool(const Graph& graph, const Node& node) {
  const Shape &x = input_shape(graph, node), &y = output_shape(graph, node);
  const Pool pool(x, y, kernel_axes(node.attributes));
  const std::int64_t rows = y[0] * y[1] * y[2];
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(rows, 1, Forward<T>{pool, input<T>(arguments, 0), output<T>(arguments)});
    });
  });
}

std::unique_ptr<Kernel> make_sliding_max_pool_gradient(const Graph& graph, const Node& node) {
  const Shape &x = input_shape(graph, node), &dy = input_shape(graph, node, 1);
  const Pool pool(x, dy, kernel_axes(node.attributes));
  const std::int64_t rows = x[0] * x[1] * x[2];
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(rows, 1,
               Backward<T>{pool, input<T>(arguments, 0), input<T>(arguments, 1), output<T>(arguments)});
    });
  });
}

}  // namespace voxswap::net::onednn
