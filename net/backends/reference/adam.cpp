// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter 2019).
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::reference {

void adam(const Call& call) {
  const Array &gradient = call.inputs[0], &parameter = call.updates[0], &m = call.updates[1],
              &v = call.updates[2];
  const Attributes& a = call.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2"), epsilon = a.real("epsilon");
  const double decay = a.real("weight_decay"), rate = call.context->learning_rate;
  const double correction1 = 1 - std::pow(beta1, call.context->step);
  const double correction2 = 1 - std::pow(beta2, call.context->step);
  for (std::int64_t i = 0; i < gradient.shape.count(); ++i) {
    const double g = gradient.data[i];
    m.data[i] = beta1 * m.data[i] + (1 - beta1) * g;
    v.data[i] = beta2 * v.data[i] + (1 - beta2) * g * g;
    const double direction = m.data[i] / correction1 / (std::sqrt(v.data[i] / correction2) + epsilon);
    parameter.data[i] -= rate * (direction + decay * parameter.data[i]);
  }
}

}  // namespace voxswap::reference
