// Losses of labels: sums over the logits, and their gradient. A voxel's target is a bit mask of its channels,
// so each lane's target comes from small lookup tables.
#include <cstdint>
#include <utility>
#include <vector>

#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/lanes.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/loss_terms.h"

namespace voxswap::net::onednn {

namespace {

// For each lane: the byte of its row's targets and the bit in it, and the byte and mask of the bit that
// excludes it (mask 0: never).
struct LaneTable {
  std::vector<std::int32_t> byte, bit, unknown_byte, unknown_mask;
  std::int64_t bytes = 1;  // per voxel
};
LaneTable lane_table(const RowLayout& layout, const LossTerms& terms) {
  LaneTable table;
  table.bytes = terms.target_bytes(layout.channels);
  for (std::int64_t lane = 0; lane < layout.wide; ++lane) {
    const std::int64_t voxel = lane / layout.channels, channel = lane % layout.channels;
    table.byte.push_back(static_cast<std::int32_t>(voxel * table.bytes + channel / 8));
    table.bit.push_back(static_cast<std::int32_t>(channel % 8));
    const bool all_known = terms.unknown == Unknown::nothing;
    const std::int64_t behind = all_known ? 0 : terms.unknown_bit(channel, layout.channels);
    table.unknown_byte.push_back(static_cast<std::int32_t>(voxel * table.bytes + behind / 8));
    table.unknown_mask.push_back(all_known ? 0 : 1 << behind % 8);
  }
  return table;
}

struct Targets {
  const std::uint8_t* bits;
  const std::int32_t *byte, *bit, *unknown_byte, *unknown_mask;
  std::int64_t bytes;

  Targets(const KernelArguments& arguments, const LaneTable& table)
      : bits(input<std::uint8_t>(arguments, 1)),
        byte(table.byte.data()),
        bit(table.bit.data()),
        unknown_byte(table.unknown_byte.data()),
        unknown_mask(table.unknown_mask.data()),
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
  // 1 for lanes that count, 0 for excluded ones.
  template <class V>
  VOXSWAP_INLINE V known(std::int64_t first, std::int64_t lane) const {
    float targets[lanes<V>];
    for (std::int64_t l = 0; l < lanes<V>; ++l)
      targets[l] = (bits[first * bytes + unknown_byte[lane + l]] & unknown_mask[lane + l]) != 0 ? 0.0f : 1.0f;
    return load<V>(targets);
  }
};

// Cross entropy with terms (net/graph/loss_terms.h) of some lanes: -log p and -log(1 - p), and p and 1 - p to
// the power of the focus, which weight the other one's term.
template <class V>
struct Focused {
  V of_true, of_false, complement, p, true_power, false_power;

  VOXSWAP_INLINE Focused(const V& x, float focus) {
    const V e = exp_of_negative<V>(-magnitude(x)), log = log_of_one_plus<V>(e);
    of_true = choose(x < 0.0f, V(-x), V{}) + log;
    of_false = choose(x > 0.0f, x, V{}) + log;
    p = sigmoid_from<V>(x, e);
    complement = sigmoid_from<V>(-x, e);
    true_power = exp_of_negative<V>(of_true * -focus);
    false_power = exp_of_negative<V>(of_false * -focus);
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
          entropies += choose(x > 0.0f, x, V{}) - x * t + log_of_one_plus<V>(e);
        }
        add_to(at.sums + c, products);
        add_to(at.sums + at.stride + c, positives);
        add_to(at.sums + 2 * at.stride + c, probabilities);
        add_to(at.sums + 3 * at.stride + c, entropies);
      }
    }
  }
};

// The same with terms.
template <class T>
struct SumsWithTerms {
  const T* logits;
  Targets targets;
  std::int64_t channels;
  float smoothing, focus;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        V products{}, positives{}, probabilities{}, entropies{}, voxels{};
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t voxel = at.voxel + row * (at.wide / channels);
          const V known = targets.known<V>(voxel, c), t = targets.at<V>(voxel, c) * known;
          const V soft = t * (1.0f - smoothing) + 0.5f * smoothing;
          const Focused<V> x(load<V>(logits + at.offset + row * at.wide + c), focus);
          products += t * x.p;
          positives += t;
          probabilities += known * x.p;
          entropies += known * (soft * x.false_power * x.of_true + (1.0f - soft) * x.true_power * x.of_false);
          voxels += known;
        }
        add_to(at.sums + c, products);
        add_to(at.sums + at.stride + c, positives);
        add_to(at.sums + 2 * at.stride + c, probabilities);
        add_to(at.sums + 3 * at.stride + c, entropies);
        add_to(at.sums + 4 * at.stride + c, voxels);
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

// The same with terms.
template <class T>
struct SumsGradientWithTerms {
  SumsGradient<T> plain;
  float smoothing, focus;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t row = 0; row < at.rows; ++row) {
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const std::int64_t i = at.offset + row * at.wide + c, q = at.parameters + c;
        const std::int64_t voxel = at.voxel + row * (at.wide / plain.channels);
        const V known = plain.targets.template known<V>(voxel, c), t = plain.targets.template at<V>(voxel, c);
        const V soft = t * (1.0f - smoothing) + 0.5f * smoothing;
        const Focused<V> x(load<V>(plain.logits + i), focus);
        const V dice =
            (load<V>(plain.of_product + q) * t + load<V>(plain.of_probability + q)) * x.p * x.complement;
        const V entropy = (1.0f - soft) * x.true_power * (x.p + focus * x.complement * x.of_false) -
                          soft * x.false_power * (x.complement + focus * x.p * x.of_true);
        store(plain.dlogits + i, V(known * (dice + load<V>(plain.of_entropy + q) * entropy)));
      }
    }
  }
};

struct LossSums {
  LossTerms terms;
  RowLayout layout;
  LaneTable table;
  WorkspacePlan plan;
  std::int64_t sums, planes;  // offsets: of the pass, and [N,D,C,kinds]

  LossSums(const Shape& logits, const Attributes& attributes)
      : terms(attributes),
        layout(plane_layout(logits)),
        table(lane_table(layout, terms)),
        sums(plan.book(sums_bytes(layout, terms.kinds()))),
        planes(plan.book(plane_sums_bytes(layout, terms.kinds()))) {}

  template <class T>
  void find(const KernelArguments& arguments, double* to) const {
    const Sums<T> plain{input<T>(arguments, 0), Targets(arguments, table), layout.channels};
    const auto finish = [](std::int64_t, std::int64_t, double*) {};
    double* scratch = place<double>(arguments, sums);
    if (terms.plain()) return sum_planes<4>(layout, plain, scratch, to, finish);
    const SumsWithTerms<T> body{plain.logits, plain.targets, plain.channels,
                                static_cast<float>(terms.smoothing), static_cast<float>(terms.focus)};
    sum_planes<5>(layout, body, scratch, to, finish);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_loss_sums(const Graph& graph, const Node& node) {
  const LossSums loss(input_shape(graph, node), node.attributes);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          auto* planes = place<double>(arguments, loss.planes);
          loss.find<T>(arguments, planes);
          add_planes(loss.layout, loss.terms.kinds(), planes, output<float>(arguments));
        },
        loss.plan.bytes());
  });
}

std::unique_ptr<Kernel> make_loss_plane_sums(const Graph& graph, const Node& node) {
  const LossSums loss(input_shape(graph, node), node.attributes);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) { loss.find<T>(arguments, output<double>(arguments)); },
        loss.plan.bytes());
  });
}

std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  const LossTerms terms(node.attributes);
  const LaneTable table = lane_table(layout, terms);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const float* dsums = input<float>(arguments, 2);
          const std::int64_t size = layout.samples * layout.wide;
          float* factors = place<float>(arguments, 0);
          for (int k = 0; k < 3; ++k) {
            const int column = k == 0 ? 0 : k + 1;  // the column of sum t depends on no logit
            expand(factors + k * size, layout, [&](std::int64_t n, std::int64_t c) {
              return dsums[terms.kinds() * (n * layout.channels + c) + column];
            });
          }
          const SumsGradient<T> plain{input<T>(arguments, 0),
                                      output<T>(arguments),
                                      Targets(arguments, table),
                                      layout.channels,
                                      factors,
                                      factors + size,
                                      factors + 2 * size};
          if (terms.plain()) return for_each_chunk(layout, plain);
          for_each_chunk(layout, SumsGradientWithTerms<T>{plain, static_cast<float>(terms.smoothing),
                                                          static_cast<float>(terms.focus)});
        },
        3 * expanded_bytes(layout));
  });
}

}  // namespace voxswap::net::onednn
