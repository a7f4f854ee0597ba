// The parts of a convolution of an upsampled volume that are not a convolution
// (net/ops/upsampled_convolution.cpp): the kernels of its eight phases, and the places of their outputs.
#include "net/backends/onednn/copies.h"
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

// Where tap k of the 27 goes among the 8 taps of a phase: along an axis, taps (0 | 1, 2) of an even phase,
// (0, 1 | 2) of an odd one.
std::int64_t tap_of(std::int64_t phase, std::int64_t k) {
  const auto along = [](std::int64_t parity, std::int64_t tap) { return (tap + 1 - parity) / 2; };
  return 4 * along(phase >> 2, k / 9) + 2 * along(phase >> 1 & 1, k / 3 % 3) + along(phase & 1, k % 3);
}

// Pairs are (output, input) channels: 27 weights of one kernel, or 8 in each of the phases.
struct FoldKernels {
  const float* w;
  float* kernels;
  std::int64_t pairs;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t phase = 0; phase < 8; ++phase) {
      std::int64_t tap[27];
      for (std::int64_t k = 0; k < 27; ++k) tap[k] = tap_of(phase, k);
      for (std::int64_t pair = begin; pair < end; ++pair) {
        float sums[8] = {};
        for (std::int64_t k = 0; k < 27; ++k) sums[tap[k]] += w[pair * 27 + k];
        __builtin_memcpy(kernels + (phase * pairs + pair) * 8, sums, sizeof sums);
      }
    }
  }
};
struct UnfoldKernels {
  const float* kernels;
  float* dw;
  std::int64_t pairs;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    std::int64_t tap[8][27];
    for (std::int64_t phase = 0; phase < 8; ++phase) {
      for (std::int64_t k = 0; k < 27; ++k) tap[phase][k] = tap_of(phase, k);
    }
    for (std::int64_t pair = begin; pair < end; ++pair) {
      for (std::int64_t k = 0; k < 27; ++k) {
        float sum = 0;
        for (std::int64_t phase = 0; phase < 8; ++phase) {
          sum += kernels[(phase * pairs + pair) * 8 + tap[phase][k]];
        }
        dw[pair * 27 + k] = sum;
      }
    }
  }
};
constexpr std::int64_t pairs_at_once = 256;

// The volume y and the phases z that it is made of, in bytes. Rows are those of z: all x at one n, z, y.
struct Phases {
  std::int64_t depth, height, width;  // of z
  std::int64_t rows, voxel;           // of z; bytes of one voxel of y
  std::int64_t fine_depth, shift;     // of y; its plane that z's plane 0 has its even phases from

  // Voxel (n, 2 (z - pz) + pz, 2 (y - py) + py, 0) of y, or -1 where the row has no such phase.
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

struct Interleave {
  Phases at;
  const std::byte* z;
  std::byte* y;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t phase = 0; phase < 8; ++phase) {
        const std::int64_t fine = at.fine(row, phase), odd = phase & 1;
        if (fine < 0) continue;
        const std::byte* from = z + ((row * at.width + odd) * 8 + phase) * at.voxel;
        for (std::int64_t x = 0; x < at.width - 1; ++x) {
          copy_bytes(y + fine + (2 * x + odd) * at.voxel, from + x * 8 * at.voxel, at.voxel);
        }
      }
    }
  }
};
struct InterleaveGradient {
  Phases at;
  const std::byte* dy;
  std::byte* dz;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const auto bytes = static_cast<std::size_t>(at.voxel);
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t phase = 0; phase < 8; ++phase) {
        const std::int64_t fine = at.fine(row, phase), odd = phase & 1;
        std::byte* to = dz + (row * at.width * 8 + phase) * at.voxel;
        const std::int64_t first = fine < 0 ? at.width : odd, last = fine < 0 ? 0 : at.width - 1 + odd;
        for (std::int64_t x = first; x < last; ++x) {
          copy_bytes(to + x * 8 * at.voxel, dy + fine + (2 * x - odd) * at.voxel, at.voxel);
        }
        for (std::int64_t x = 0; x < at.width; ++x) {
          if (x < first || x >= last) __builtin_memset(to + x * 8 * at.voxel, 0, bytes);
        }
      }
    }
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

std::unique_ptr<Kernel> make_interleave(const Graph& graph, const Node& node) {
  const Phases at =
      phases_of(input_shape(graph, node), output_shape(graph, node), 0, input_type(graph, node));
  return make_pass([=](const KernelArguments& arguments) {
    parallel(at.rows, rows_at_once(at.width * 8 * at.voxel),
             Interleave{at, input<std::byte>(arguments, 0), output<std::byte>(arguments)});
  });
}

std::unique_ptr<Kernel> make_interleave_gradient(const Graph& graph, const Node& node) {
  const Phases at = phases_of(output_shape(graph, node), input_shape(graph, node),
                              node.attributes.integer_or("shift", 0), input_type(graph, node));
  return make_pass([=](const KernelArguments& arguments) {
    parallel(at.rows, rows_at_once(at.width * 8 * at.voxel),
             InterleaveGradient{at, input<std::byte>(arguments, 0), output<std::byte>(arguments)});
  });
}

}  // namespace voxswap::net::onednn
