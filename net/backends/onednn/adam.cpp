// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, in one pass over parameters and moments:
// all parameters of a node are cut into pieces, which the threads share.
#include <cmath>
#include <vector>

#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

struct Adam {
  float keep1, new1, keep2, new2;  // beta and 1 - beta of both moments
  float correct1, correct2;        // 1 / (1 - beta^step)
  float epsilon, rate, decay;

  template <class V>
  VOXSWAP_INLINE void update(const float* gradient, float* parameter, float* m, float* v, std::int64_t begin,
                             std::int64_t end) const {
    for (std::int64_t i = begin; i < end; i += lanes<V>) {
      const V g = load<V>(gradient + i), old = load<V>(parameter + i);
      const V first = load<V>(m + i) * keep1 + g * new1, second = load<V>(v + i) * keep2 + g * g * new2;
      const V direction = first * correct1 / (square_root(V(second * correct2)) + epsilon);
      store(m + i, first);
      store(v + i, second);
      store(parameter + i, V(old - (direction + old * decay) * rate));
    }
  }
};

// Elements [begin, end) of the node's parameter of this number.
struct Piece {
  std::size_t parameter;
  std::int64_t begin, end;
};
constexpr std::int64_t piece_elements = 1 << 16;

std::vector<Piece> cut(const Graph& graph, const Node& node) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::int64_t count = input_shape(graph, node, i).count();
    for (std::int64_t begin = 0; begin < count; begin += piece_elements)
      pieces.push_back({i, begin, std::min(count, begin + piece_elements)});
  }
  return pieces;
}

struct Update {
  const Adam& adam;
  const std::vector<Piece>& pieces;
  const KernelArguments& arguments;

  VOXSWAP_INLINE void operator()(std::int64_t first, std::int64_t last) const {
    const Adam own = adam;  // a copy that no store can be suspected to change stays in registers
    for (std::int64_t i = first; i < last; ++i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      const float* gradient = static_cast<const float*>(arguments.inputs[piece.parameter]);
      float* parameter = static_cast<float*>(arguments.updates[3 * piece.parameter]);
      float* m = static_cast<float*>(arguments.updates[3 * piece.parameter + 1]);
      float* v = static_cast<float*>(arguments.updates[3 * piece.parameter + 2]);
      const std::int64_t whole = piece.end - (piece.end - piece.begin) % lanes<Floats>;
      own.update<Floats>(gradient, parameter, m, v, piece.begin, whole);
      own.update<float>(gradient, parameter, m, v, whole, piece.end);
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node) {
  const bool scaled = node.inputs.size() > node.updates.size() / 3;
  if (scaled)
    return by_reference(graph, node);  // loss scaling belongs to f16, which this backend has not got
  const Attributes& a = node.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2");
  const double epsilon = a.real("epsilon"), decay = a.real("weight_decay");
  return make_pass([=, pieces = cut(graph, node)](const KernelArguments& arguments) {
    const auto step = static_cast<double>(arguments.context->step);
    const auto narrow = [](double value) { return static_cast<float>(value); };
    const Adam adam = {narrow(beta1),
                       narrow(1 - beta1),
                       narrow(beta2),
                       narrow(1 - beta2),
                       narrow(1 / (1 - std::pow(beta1, step))),
                       narrow(1 / (1 - std::pow(beta2, step))),
                       narrow(epsilon),
                       narrow(arguments.context->learning_rate),
                       narrow(decay)};
    parallel(static_cast<std::int64_t>(pieces.size()), 1, Update{adam, pieces, arguments});
  });
}

}  // namespace voxswap::net::onednn
