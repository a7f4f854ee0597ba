// The parts of a convolution of an upsampled volume besides the convolution itself
// (net/ops/upsampled_convolution.cpp): the kernels of its eight phases, and the rearrangement of its output.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

// The range of the three taps along an axis that add up to tap 0 or 1 of a phase: 0 and 1, 2 for an even
// phase, 0, 1 and 2 for an odd one.
struct Taps {
  std::int64_t begin, end;
};
constexpr Taps taps_along(std::int64_t parity, std::int64_t tap) {
  return tap == 0 ? Taps{0, 1 + parity} : Taps{1 + parity, 3};
}
// The tap of a phase's 8 to which tap k of the 27 contributes.
constexpr std::int64_t tap_of(std::int64_t phase, std::int64_t k) {
  const auto along = [](std::int64_t parity, std::int64_t tap) { return (tap + 1 - parity) / 2; };
  return 4 * along(phase >> 2, k / 9) + 2 * along(phase >> 1 & 1, k / 3 % 3) + along(phase & 1, k % 3);
}

// A pair is (output, input) channel: 27 weights of one kernel, or 8 in each of the phases. Sixteen pairs are
// processed side by side.
struct FoldKernels {
  const float* w;
  float* kernels;
  std::int64_t pairs;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    std::int64_t pair = begin;
    for (; pair + lane_count <= end; pair += lane_count) fold<Floats>(pair);
    for (; pair < end; ++pair) fold<float>(pair);
  }

 private:
  template <class V>
  VOXSWAP_INLINE void fold(std::int64_t first) const {
    alignas(64) float taps[27][lanes<V>], folded[8][lanes<V>];
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane)
      for (std::int64_t k = 0; k < 27; ++k) taps[k][lane] = w[(first + lane) * 27 + k];
    for (std::int64_t phase = 0; phase < 8; ++phase) {
      for (std::int64_t tap = 0; tap < 8; ++tap) {
        const Taps along[3] = {taps_along(phase >> 2, tap >> 2), taps_along(phase >> 1 & 1, tap >> 1 & 1),
                               taps_along(phase & 1, tap & 1)};
        V sum{};
        for (std::int64_t z = along[0].begin; z < along[0].end; ++z)
          for (std::int64_t y = along[1].begin; y < along[1].end; ++y)
            for (std::int64_t x = along[2].begin; x < along[2].end; ++x)
              sum += load<V>(taps[9 * z + 3 * y + x]);
        store(folded[tap], sum);
      }
      float* const to = kernels + (phase * pairs + first) * 8;
      for (std::int64_t lane = 0; lane < lanes<V>; ++lane)
        for (std::int64_t tap = 0; tap < 8; ++tap) to[lane * 8 + tap] = folded[tap][lane];
    }
  }
};
struct UnfoldKernels {
  const float* kernels;
  float* dw;
  std::int64_t pairs;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    std::int64_t pair = begin;
    for (; pair + lane_count <= end; pair += lane_count) unfold<Floats>(pair);
    for (; pair < end; ++pair) unfold<float>(pair);
  }

 private:
  template <class V>
  VOXSWAP_INLINE void unfold(std::int64_t first) const {
    alignas(64) float folded[8][8][lanes<V>], taps[27][lanes<V>];
    for (std::int64_t phase = 0; phase < 8; ++phase)
      for (std::int64_t lane = 0; lane < lanes<V>; ++lane)
        for (std::int64_t tap = 0; tap < 8; ++tap)
          folded[phase][tap][lane] = kernels[(phase * pairs + first + lane) * 8 + tap];
    for (std::int64_t k = 0; k < 27; ++k) {
      V sum{};
      for (std::int64_t phase = 0; phase < 8; ++phase) sum += load<V>(folded[phase][tap_of(phase, k)]);
      store(taps[k], sum);
    }
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane)
      for (std::int64_t k = 0; k < 27; ++k) dw[(first + lane) * 27 + k] = taps[k][lane];
  }
};
constexpr std::int64_t pairs_at_once = 256;

// The volume y and its phases z, in bytes. Rows are those of z: all x at one n, z, y.
struct Phases {
  std::int64_t depth, height, width;  // of z
  std::int64_t rows, voxel;           // of z; bytes of one voxel of y
  std::int64_t fine_depth, shift;     // of y; the plane of y from which plane 0 of z takes its even phases

  // Index of voxel (n, 2 (z - pz) + pz, 2 (y - py) + py, 0) of y, or -1 if the row has no such phase.
  std::int64_t fine(std::int64_t row, std::int64_t phase) const {
    const std::int64_t y = row % height, z = row / height % depth, n = row / height / depth;
    const std::int64_t fine_z = 2 * z - (phase >> 2) + shift, fine_y = 2 * y - (phase >> 1 & 1);
    if (fine_z < 0 || fine_y < 0 || fine_z >= fine_depth || fine_y >= 2 * (height - 1)) return -1;
    return ((n * fine_depth + fine_z) * 2 * (height - 1) + fine_y) * 2 * (width - 1) * voxel;
  }
};

Phases phases_of(const Shape& z, const Shape& y, std::int64_t shift, ElementType type) {
  return {z[1], z[2], z[3], z[0] * z[1] * z[2], z[4] / 8 * element_bytes(type), y[1], shift};
}

// Voxel by voxel of z, whose phases are adjacent: four rows of y are written concurrently, each in order.
template <bool streams>
VOXSWAP_INLINE void move_voxel(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if constexpr (streams)
    stream_bytes(to, from, bytes);
  else
    copy_bytes(to, from, bytes);
}
constexpr std::int64_t rows_of_y = 4;   // rows of y that one row of z has phases of
constexpr std::int64_t half_line = 32;  // bytes of half a cache line; consecutive halves combine to whole
                                        // lines

template <bool streams>
struct Interleave {
  Phases at;
  const std::byte* z;
  std::byte* y;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t voxel = at.voxel, last = at.width - 1;
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t fine[rows_of_y];
      for (std::int64_t i = 0; i < rows_of_y; ++i) fine[i] = at.fine(row, 2 * i);
      const std::byte* from = z + row * at.width * 8 * voxel;
      for (std::int64_t x = 0; x <= last; ++x)
        for (std::int64_t i = 0; i < rows_of_y; ++i, from += 2 * voxel) {
          if (fine[i] < 0) continue;
          std::byte* const to = y + fine[i] + 2 * x * voxel;
          if (x > 0) move_voxel<streams>(to - voxel, from + voxel, voxel);
          if (x < last) move_voxel<streams>(to, from, voxel);
        }
    }
    if constexpr (streams) finish_streams();
  }
};

template <bool streams>
struct InterleaveGradient {
  Phases at;
  const std::byte* dy;
  std::byte* dz;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t voxel = at.voxel, last = at.width - 1;
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t fine[rows_of_y];
      for (std::int64_t i = 0; i < rows_of_y; ++i) fine[i] = at.fine(row, 2 * i);
      std::byte* to = dz + row * at.width * 8 * voxel;
      for (std::int64_t x = 0; x <= last; ++x)
        for (std::int64_t i = 0; i < rows_of_y; ++i, to += 2 * voxel) {
          const std::byte* const from = dy + fine[i] + 2 * x * voxel;
          move(to, from, fine[i] >= 0 && x < last);
          move(to + voxel, from - voxel, fine[i] >= 0 && x > 0);
        }
    }
    if constexpr (streams) finish_streams();
  }

 private:
  VOXSWAP_INLINE void move(std::byte* to, const std::byte* from, bool is_there) const {
    if (is_there)
      move_voxel<streams>(to, from, at.voxel);
    else
      __builtin_memset(to, 0, static_cast<std::size_t>(at.voxel));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_upsampled_weights(const Graph& graph, const Node& node) {
  const Shape& w = input_shape(graph, node);
  const std::int64_t pairs = w[0] * w[1];
  return make_pass([=](const KernelArguments& arguments) {
    parallel(pairs, pairs_at_once, FoldKernels{input<float>(arguments, 0), output<float>(arguments), pairs});
  });
}

std::unique_ptr<Kernel> make_upsampled_weights_gradient(const Graph& graph, const Node& node) {
  const Shape& dw = output_shape(graph, node);
  const std::int64_t pairs = dw[0] * dw[1];
  return make_pass([=](const KernelArguments& arguments) {
    parallel(pairs, pairs_at_once,
             UnfoldKernels{input<float>(arguments, 0), output<float>(arguments), pairs});
  });
}

// The pass over the rows of z; bypasses the caches if the output is large.
template <template <bool> class Pass>
std::unique_ptr<Kernel> make_over_rows(const Phases& at, std::int64_t made) {
  const std::int64_t rows = rows_at_once(at.width * 8 * at.voxel);
  const bool streams = made >= streamed_bytes && at.voxel % half_line == 0;
  return make_pass([=](const KernelArguments& arguments) {
    const auto* from = input<std::byte>(arguments, 0);
    auto* to = output<std::byte>(arguments);
    if (streams)
      parallel(at.rows, rows, Pass<true>{at, from, to});
    else
      parallel(at.rows, rows, Pass<false>{at, from, to});
  });
}

std::unique_ptr<Kernel> make_interleave(const Graph& graph, const Node& node) {
  const Phases at =
      phases_of(input_shape(graph, node), output_shape(graph, node), 0, input_type(graph, node));
  return make_over_rows<Interleave>(at, graph.value(node.outputs[0]).bytes());
}

std::unique_ptr<Kernel> make_interleave_gradient(const Graph& graph, const Node& node) {
  const Phases at = phases_of(output_shape(graph, node), input_shape(graph, node),
                              node.attributes.integer_or("shift", 0), input_type(graph, node));
  return make_over_rows<InterleaveGradient>(at, graph.value(node.outputs[0]).bytes());
}

}  // namespace voxswap::net::onednn
