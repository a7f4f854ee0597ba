// The passes over the logits: sums of the loss and their gradient. A voxel has a bit mask of its channels, so
// the target of every lane is looked up through small tables.
#include <cstdint>
#include <vector>

#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/exponential.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/onednn/plane_sums.h"

namespace voxswap::net::onednn {

namespace {

// Which byte of its row's targets, and which bit of it, a lane belongs to.
struct LaneTable {
  std::vector<std::int32_t> byte, bit;
  std::int64_t bytes = 1;  // of a voxel
};
LaneTable lane_table(const RowLayout& layout) {
  LaneTable table;
  table.bytes = (layout.channels + 7) / 8;
  for (std::int64_t lane = 0; lane < layout.wide; ++lane) {
    const std::int64_t voxel = lane / layout.channels, channel = lane % layout.channels;
    table.byte.push_back(static_cast<std::int32_t>(voxel * table.bytes + channel / 8));
    table.bit.push_back(static_cast<std::int32_t>(channel % 8));
  }
  return table;
}

struct Targets {
  const std::uint8_t* bits;
  const std::int32_t *byte, *bit;
  std::int64_t bytes;

  Targets(const KernelArguments& arguments, const LaneTable& table)
      : bits(input<std::uint8_t>(arguments, 1)),
        byte(table.byte.data()),
        bit(table.bit.data()),
        bytes(table.bytes) {}

  // The targets of the lanes from `lane` on, in the row that starts at voxel `first`.
  template <class V>
  VOXSWAP_INLINE V at(std::int64_t first, std::int64_t lane) const {
    float targets[lanes<V>];
    for (std::int64_t l = 0; l < lanes<V>; ++l) {
      targets[l] = static_cast<float>((bits[first * bytes + byte[lane + l]] >> bit[lane + l]) & 1);
    }
    return load<V>(targets);
  }
};

template <class T>
struct Sums {
  const T* logits;
  Targets targets;
  std::int64_t channels;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        V products{}, positives{}, probabilities{}, entropies{};
        for (std::int64_t row = first; row < last; ++row) {
          const V x = load<V>(logits + at.offset + row * at.wide + c);
          const V t = targets.at<V>(at.voxel + row * (at.wide / channels), c);
          const V e = exp_of_negative<V>(-magnitude(x)), p = sigmoid_from<V>(x, e);
          products += t * p;
          positives += t;
          probabilities += p;
          entropies += (x > 0.0f ? x : V{}) - x * t + log_of_one_plus<V>(e);
        }
        add_to(at.sums + c, products);
        add_to(at.sums + at.stride + c, positives);
        add_to(at.sums + 2 * at.stride + c, probabilities);
        add_to(at.sums + 3 * at.stride + c, entropies);
      }
    }
  }
};

template <class T>
struct SumsGradient {
  const T* logits;
  T* dlogits;
  Targets targets;
  std::int64_t channels;
  const float *of_product, *of_probability, *of_entropy;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t row = 0; row < at.rows; ++row) {
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const std::int64_t i = at.offset + row * at.wide + c, q = at.parameters + c;
        const V x = load<V>(logits + i), t = targets.at<V>(at.voxel + row * (at.wide / channels), c);
        const V p = sigmoid_from<V>(x, exp_of_negative<V>(-magnitude(x)));
        const V dice = (load<V>(of_product + q) * t + load<V>(of_probability + q)) * p * (1.0f - p);
        store(dlogits + i, V(dice + load<V>(of_entropy + q) * (p - t)));
      }
    }
  }
};

}  // namespace

namespace {

struct LossSums {
  RowLayout layout;
  LaneTable table;
  WorkspacePlan plan;
  std::int64_t sums, planes;  // places: of the pass, and [N,D,C,4]

  explicit LossSums(const Shape& logits)
      : layout(plane_layout(logits)),
        table(lane_table(layout)),
        sums(plan.book(sums_bytes(layout, 4))),
        planes(plan.book(plane_sums_bytes(layout, 4))) {}

  template <class T>
  void find(const KernelArguments& arguments, double* to) const {
    const Targets targets(arguments, table);
    sum_planes<4>(layout, Sums<T>{input<T>(arguments, 0), targets, layout.channels},
                  place<double>(arguments, sums), to, [](std::int64_t, std::int64_t, double*) {});
  }
};

}  // namespace

std::unique_ptr<Kernel> make_loss_sums(const Graph& graph, const Node& node) {
  const LossSums loss(input_shape(graph, node));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          auto* planes = place<double>(arguments, loss.planes);
          loss.find<T>(arguments, planes);
          add_planes(loss.layout, 4, planes, output<float>(arguments));
        },
        loss.plan.bytes());
  });
}

std::unique_ptr<Kernel> make_loss_plane_sums(const Graph& graph, const Node& node) {
  const LossSums loss(input_shape(graph, node));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) { loss.find<T>(arguments, output<double>(arguments)); },
        loss.plan.bytes());
  });
}

std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  const LaneTable table = lane_table(layout);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const Targets targets(arguments, table);
          const float* dsums = input<float>(arguments, 2);
          const std::int64_t size = layout.samples * layout.wide;
          float* factors = place<float>(arguments, 0);
          for (int k = 0; k < 3; ++k) {
            const int column = k == 0 ? 0 : k + 1;  // the column of sum t depends on no logit
            expand(factors + k * size, layout, [&](std::int64_t n, std::int64_t c) {
              return dsums[4 * (n * layout.channels + c) + column];
            });
          }
          for_each_chunk(
              layout, SumsGradient<T>{input<T>(arguments, 0), output<T>(arguments), targets, layout.channels,
                                      factors, factors + size, factors + 2 * size});
        },
        3 * expanded_bytes(layout));
  });
}

}  // namespace voxswap::net::onednn
