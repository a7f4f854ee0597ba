// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter 2019).
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

void adam(const Call& call) {
  const std::size_t parameters = call.updates.size() / 3;
  const Attributes& a = call.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2"), epsilon = a.real("epsilon");
  const double decay = a.real("weight_decay"), rate = call.context->learning_rate;
  const bool scaled = call.inputs.size() > parameters;
  if (scaled && call.inputs[parameters + 1].data[0] == 0) return;  // gradients that are not finite
  const double scale = scaled ? call.inputs[parameters].data[0] : 1;
  const double step = scaled ? call.inputs[parameters].data[2] + 1 : static_cast<double>(call.context->step);
  const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  for (std::size_t k = 0; k < parameters; ++k) {
    const Array &gradient = call.inputs[k], &parameter = call.updates[3 * k], &m = call.updates[3 * k + 1],
                &v = call.updates[3 * k + 2];
    for (std::int64_t i = 0; i < gradient.shape.count(); ++i) {
      const double g = gradient.data[i] / scale;
      m.data[i] = beta1 * m.data[i] + (1 - beta1) * g;
      v.data[i] = beta2 * v.data[i] + (1 - beta2) * g * g;
      const double direction = m.data[i] / correction1 / (std::sqrt(v.data[i] / correction2) + epsilon);
      parameter.data[i] -= rate * (direction + decay * parameter.data[i]);
    }
  }
}

}  // namespace voxswap::net::reference
