// Label maps (net/ops/label_maps.cpp). A label is usually that of the voxel before, so pairs are looked up
// and counted once for each run of equal ones.
#include <algorithm>

#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

using Label = std::uint16_t;

struct DecodeLabels {
  const float* probabilities;
  const double* table;  // label and order of each channel
  Label* labels;
  std::int64_t channels, nested;
  float least;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t voxel = begin; voxel < end; ++voxel) {
      const float* const p = probabilities + voxel * channels;
      std::int64_t decided = -1;
      double last = -1;
      float largest = 0;
      for (std::int64_t c = 0; c < nested; ++c)
        if (p[c] >= least && table[2 * c + 1] > last) {
          decided = c;
          last = table[2 * c + 1];
        }
      for (std::int64_t c = nested; c < channels; ++c)
        if (p[c] > largest) {
          largest = p[c];
          if (p[c] >= least) decided = c;
        }
      labels[voxel] = decided < 0 ? Label{0} : static_cast<Label>(table[2 * decided]);
    }
  }
};

// Counts the pairs of labels of planes.
struct CountPairs {
  const Label *truth, *labels;
  const double* values;
  double* counts;  // [planes,K,K]
  std::int64_t voxels, count;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      double* const own = counts + plane * count * count;
      std::fill_n(own, count * count, 0.0);
      const Label *const t = truth + plane * voxels, *const l = labels + plane * voxels;
      for (std::int64_t first = 0, v = 0; first < voxels; first = v) {
        while (v < voxels && t[v] == t[first] && l[v] == l[first]) ++v;
        const std::int64_t row = find(t[first]), column = find(l[first]);
        if (row < count && column < count) own[row * count + column] += static_cast<double>(v - first);
      }
    }
  }
  VOXSWAP_INLINE std::int64_t find(Label label) const {
    std::int64_t i = 0;
    while (i < count && values[i] != label) ++i;
    return i;
  }
};

void count_pairs(const KernelArguments& arguments, const Shape& shape, std::int64_t count, double* counts) {
  parallel(shape[0] * shape[1], 1,
           CountPairs{input<Label>(arguments, 0), input<Label>(arguments, 1), input<double>(arguments, 2),
                      counts, shape[2] * shape[3], count});
}

}  // namespace

std::unique_ptr<Kernel> make_decode_labels(const Graph& graph, const Node& node) {
  if (input_type(graph, node) != ElementType::f32) return by_reference(graph, node);
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels,
                     nested = node.attributes.integer("nested");
  const auto least = static_cast<float>(node.attributes.real("least"));
  constexpr std::int64_t grain = 1 << 14;
  return make_pass([=](const KernelArguments& arguments) {
    parallel(voxels, grain,
             DecodeLabels{input<float>(arguments, 0), input<double>(arguments, 1), output<Label>(arguments),
                          channels, nested, least});
  });
}

std::unique_ptr<Kernel> make_confusion_plane_sums(const Graph& graph, const Node& node) {
  const Shape shape = input_shape(graph, node);
  const std::int64_t count = input_shape(graph, node, 2)[0];
  return make_pass([=](const KernelArguments& arguments) {
    count_pairs(arguments, shape, count, output<double>(arguments));
  });
}

std::unique_ptr<Kernel> make_confusion_matrix(const Graph& graph, const Node& node) {
  const Shape shape = input_shape(graph, node);
  const std::int64_t count = input_shape(graph, node, 2)[0], pairs = count * count;
  return make_pass(
      [=](const KernelArguments& arguments) {
        auto* const planes = place<double>(arguments, 0);
        count_pairs(arguments, shape, count, planes);
        std::fill_n(output<double>(arguments), shape[0] * pairs, 0.0);
        for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
          for (std::int64_t i = 0; i < pairs; ++i)
            output<double>(arguments)[plane / shape[1] * pairs + i] += planes[plane * pairs + i];
      },
      shape[0] * shape[1] * pairs * static_cast<std::int64_t>(sizeof(double)));
}

}  // namespace voxswap::net::onednn
