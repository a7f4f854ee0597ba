// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, in one pass over parameter and moments.
#include <cmath>

#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::onednn {

namespace {

struct Adam {
  const float* gradient;
  float *parameter, *m, *v;
  float keep1, new1, keep2, new2;  // beta and 1 - beta of both moments
  float correct1, correct2;        // 1 / (1 - beta^step)
  float epsilon, rate, decay;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t i = at.offset; i < at.offset + at.rows * at.wide; i += lanes<V>) {
      const V g = load<V>(gradient + i), old = load<V>(parameter + i);
      const V first = load<V>(m + i) * keep1 + g * new1, second = load<V>(v + i) * keep2 + g * g * new2;
      const V direction = first * correct1 / (square_root(V(second * correct2)) + epsilon);
      store(m + i, first);
      store(v + i, second);
      store(parameter + i, V(old - (direction + old * decay) * rate));
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node) {
  const RowLayout layout = flat_layout(input_shape(graph, node).count());
  const Attributes& a = node.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2");
  const double epsilon = a.real("epsilon"), decay = a.real("weight_decay");
  return make_pass([=](const KernelArguments& arguments) {
    const auto update = [&](std::size_t index) { return static_cast<float*>(arguments.updates[index]); };
    const auto step = static_cast<double>(arguments.context->step);
    const auto narrow = [](double value) { return static_cast<float>(value); };
    for_each_chunk(layout,
                   Adam{input<float>(arguments, 0), update(0), update(1), update(2), narrow(beta1),
                        narrow(1 - beta1), narrow(beta2), narrow(1 - beta2),
                        narrow(1 / (1 - std::pow(beta1, step))), narrow(1 / (1 - std::pow(beta2, step))),
                        narrow(epsilon), narrow(arguments.context->learning_rate), narrow(decay)});
  });
}

}  // namespace voxswap::onednn
