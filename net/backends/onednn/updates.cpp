// Parameter updates: Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, and SGD with Nesterov
// momentum, in one pass over parameters and states. All parameters of a node are split into parts for the
// threads. Also the sum of squares for gradient clipping.
#include <array>
#include <cmath>
#include <vector>

#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

struct Adam {
  static constexpr std::size_t states = 2;
  float keep1, new1, keep2, new2;  // beta and 1 - beta of both moments
  float correct1, correct2;        // 1 / (1 - beta^step)
  float epsilon, rate, decay;

  template <class V>
  VOXSWAP_INLINE void update(const V& g, float* parameter, const std::array<float*, states>& state,
                             std::int64_t i) const {
    const V old = load<V>(parameter + i);
    const V first = load<V>(state[0] + i) * keep1 + g * new1;
    const V second = load<V>(state[1] + i) * keep2 + g * g * new2;
    const V direction = first * correct1 / (square_root(V(second * correct2)) + epsilon);
    store(state[0] + i, first);
    store(state[1] + i, second);
    store(parameter + i, V(old - (direction + old * decay) * rate));
  }
};

struct Sgd {
  static constexpr std::size_t states = 1;
  float momentum, rate, decay;

  template <class V>
  VOXSWAP_INLINE void update(const V& g, float* parameter, const std::array<float*, states>& state,
                             std::int64_t i) const {
    const V old = load<V>(parameter + i), direction = g + old * decay;
    const V velocity = load<V>(state[0] + i) * momentum + direction;
    store(state[0] + i, velocity);
    store(parameter + i, V(old - (direction + velocity * momentum) * rate));
  }
};

// Elements [begin, end) of parameter number `parameter` of the node.
struct ParameterRange {
  std::size_t parameter;
  std::int64_t begin, end;
};
constexpr std::int64_t block_elements = 1 << 16;

std::vector<ParameterRange> cut(const Graph& graph, const Node& node, std::size_t parameters) {
  std::vector<ParameterRange> ranges;
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::int64_t count = input_shape(graph, node, i).count();
    for (std::int64_t begin = 0; begin < count; begin += block_elements)
      ranges.push_back({i, begin, std::min(count, begin + block_elements)});
  }
  return ranges;
}

template <class Rule>
struct Update {
  const Rule& rule;
  float factor;  // multiplies the gradients
  const std::vector<ParameterRange>& ranges;
  const KernelArguments& arguments;

  template <class V>
  VOXSWAP_INLINE void go(const Rule& own, const ParameterRange& range, std::int64_t begin,
                         std::int64_t end) const {
    constexpr std::size_t each = 1 + Rule::states;
    const float* gradient = static_cast<const float*>(arguments.inputs[range.parameter]);
    float* parameter = static_cast<float*>(arguments.updates[each * range.parameter]);
    std::array<float*, Rule::states> state;
    for (std::size_t k = 0; k < Rule::states; ++k)
      state[k] = static_cast<float*>(arguments.updates[each * range.parameter + 1 + k]);
    for (std::int64_t i = begin; i < end; i += lanes<V>)
      own.template update<V>(load<V>(gradient + i) * factor, parameter, state, i);
  }
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t first, std::int64_t last) const {
    const Rule own = rule;  // a copy that no store can alias stays in registers
    for (std::int64_t i = first; i < last; ++i) {
      const ParameterRange& range = ranges[static_cast<std::size_t>(i)];
      const std::int64_t whole = range.end - (range.end - range.begin) % lane_count;
      go<Floats>(own, range, range.begin, whole);
      go<float>(own, range, whole, range.end);
    }
  }
};

float narrow(double value) {
  return static_cast<float>(value);
}

// `make_rule(context)` returns the update rule of a step.
template <class Rule, class MakeRule>
std::unique_ptr<Kernel> make_update(const Graph& graph, const Node& node, MakeRule make_rule) {
  const std::size_t parameters = node.updates.size() / (1 + Rule::states);
  const std::size_t more = node.inputs.size() - parameters;
  if (more >= 2)
    return by_reference(graph, node);  // loss scaling is only for f16, which this backend does not support
  return make_pass([=, ranges = cut(graph, node, parameters)](const KernelArguments& arguments) {
    const Rule rule = make_rule(*arguments.context);
    const float factor = more == 0 ? 1 : *input<float>(arguments, parameters);  // 1 changes no bit
    parallel(static_cast<std::int64_t>(ranges.size()), 1, Update<Rule>{rule, factor, ranges, arguments});
  });
}

struct Squares {
  const float* x;
  double* sums;  // per block
  std::int64_t count, block;

  template <class V>
  VOXSWAP_INLINE void add(std::int64_t begin, std::int64_t end, double* to) const {
    for (std::int64_t first = begin; first < end; first += summed_rows * lanes<V>) {
      V sum{};
      for (std::int64_t i = first; i < std::min(end, first + summed_rows * lanes<V>); i += lanes<V>)
        sum += load<V>(x + i) * load<V>(x + i);
      add_to(to, sum);
    }
  }
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t first, std::int64_t last) const {
    for (std::int64_t index = first; index < last; ++index) {
      const std::int64_t begin = index * block, end = std::min(count, begin + block);
      const std::int64_t whole = end - (end - begin) % lane_count;
      double lane[lane_count] = {};
      add<Floats>(begin, whole, lane);
      add<float>(whole, end, lane);
      sums[index] = 0;
      for (const double value : lane) sums[index] += value;
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2");
  const double epsilon = a.real("epsilon"), decay = a.real("weight_decay");
  return make_update<Adam>(graph, node, [=](const StepContext& context) {
    const auto step = static_cast<double>(context.step);
    return Adam{narrow(beta1),
                narrow(1 - beta1),
                narrow(beta2),
                narrow(1 - beta2),
                narrow(1 / (1 - std::pow(beta1, step))),
                narrow(1 / (1 - std::pow(beta2, step))),
                narrow(epsilon),
                narrow(context.learning_rate),
                narrow(decay)};
  });
}

std::unique_ptr<Kernel> make_sgd(const Graph& graph, const Node& node) {
  const float momentum = narrow(node.attributes.real("momentum"));
  const float decay = narrow(node.attributes.real("weight_decay"));
  return make_update<Sgd>(graph, node, [=](const StepContext& context) {
    return Sgd{momentum, narrow(context.learning_rate), decay};
  });
}

std::unique_ptr<Kernel> make_sum_of_squares(const Graph& graph, const Node& node) {
  const std::int64_t count = input_shape(graph, node).count();
  const std::int64_t blocks = (count + block_elements - 1) / block_elements;
  const bool first = node.inputs.size() == 1;
  return make_pass(
      [=](const KernelArguments& arguments) {
        double* sums = place<double>(arguments, 0);
        parallel(blocks, 1, Squares{input<float>(arguments, 0), sums, count, block_elements});
        double sum = first ? 0 : *input<float>(arguments, 1);
        for (std::int64_t i = 0; i < blocks; ++i) sum += sums[i];
        *output<float>(arguments) = narrow(sum);
      },
      blocks * static_cast<std::int64_t>(sizeof(double)));
}

}  // namespace voxswap::net::onednn
