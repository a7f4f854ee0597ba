// Parameter updates: Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter
// 2019), SGD with Nesterov momentum, gradient clipping, and dynamic loss scaling.
#include <algorithm>
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// Optional inputs of an update after the gradients: the state of the loss scale together with whether
// gradients are finite, and the clipping factor.
struct Extras {
  bool left_out = false;  // skip the update: gradients are not finite
  double step;            // counted from 1
  double factor = 1;      // multiplies the gradients
  explicit Extras(const Call& call, std::size_t parameters) : step(static_cast<double>(call.context->step)) {
    const std::size_t more = call.inputs.size() - parameters;
    if (more >= 2) {
      left_out = call.inputs[parameters + 1].data[0] == 0;
      step = call.inputs[parameters].data[2] + 1;
      factor = 1 / call.inputs[parameters].data[0];
    }
    if (more % 2 == 1) factor *= call.inputs.back().data[0];
  }
};

}  // namespace

void adam(const Call& call) {
  const std::size_t parameters = call.updates.size() / 3;
  const Attributes& a = call.attributes;
  const double beta1 = a.real("beta1"), beta2 = a.real("beta2"), epsilon = a.real("epsilon");
  const double decay = a.real("weight_decay"), rate = call.context->learning_rate;
  const Extras extras(call, parameters);
  if (extras.left_out) return;
  const double correction1 = 1 - std::pow(beta1, extras.step), correction2 = 1 - std::pow(beta2, extras.step);
  for (std::size_t k = 0; k < parameters; ++k) {
    const Array &gradient = call.inputs[k], &parameter = call.updates[3 * k], &m = call.updates[3 * k + 1],
                &v = call.updates[3 * k + 2];
    for (std::int64_t i = 0; i < gradient.shape.count(); ++i) {
      const double g = gradient.data[i] * extras.factor;
      m.data[i] = beta1 * m.data[i] + (1 - beta1) * g;
      v.data[i] = beta2 * v.data[i] + (1 - beta2) * g * g;
      const double direction = m.data[i] / correction1 / (std::sqrt(v.data[i] / correction2) + epsilon);
      parameter.data[i] -= rate * (direction + decay * parameter.data[i]);
    }
  }
}

void sgd(const Call& call) {
  const std::size_t parameters = call.updates.size() / 2;
  const double momentum = call.attributes.real("momentum"), decay = call.attributes.real("weight_decay");
  const double rate = call.context->learning_rate;
  const Extras extras(call, parameters);
  if (extras.left_out) return;
  for (std::size_t k = 0; k < parameters; ++k) {
    const Array &gradient = call.inputs[k], &parameter = call.updates[2 * k],
                &velocity = call.updates[2 * k + 1];
    for (std::int64_t i = 0; i < gradient.shape.count(); ++i) {
      const double direction = gradient.data[i] * extras.factor + decay * parameter.data[i];
      velocity.data[i] = momentum * velocity.data[i] + direction;
      parameter.data[i] -= rate * (direction + momentum * velocity.data[i]);
    }
  }
}

void sum_of_squares(const Call& call) {
  const Array& gradient = call.inputs[0];
  double sum = call.inputs.size() > 1 ? call.inputs[1].data[0] : 0;
  for (std::int64_t i = 0; i < gradient.shape.count(); ++i) sum += gradient.data[i] * gradient.data[i];
  call.outputs[0].data[0] = sum;
}

void clip_factor(const Call& call) {
  const double scale = call.inputs.size() > 1 ? call.inputs[1].data[0] : 1;
  const double norm = std::sqrt(call.inputs[0].data[0]) / scale;
  call.outputs[0].data[0] = std::min(1.0, call.attributes.real("most") / (norm + 1e-6));
}

// Dynamic loss scaling: the seed of the backward pass, the check for finite gradients, the update of the
// scale.
void loss_scale_seed(const Call& call) {
  call.outputs[0].data[0] = call.inputs[0].data[0];
}

void all_finite(const Call& call) {
  const Array& gradient = call.inputs[0];
  const bool before = call.inputs.size() < 2 || call.inputs[1].data[0] != 0;
  const bool all = std::all_of(gradient.data, gradient.data + gradient.shape.count(),
                               [](double x) { return std::isfinite(x); });
  call.outputs[0].data[0] = before && all ? 1 : 0;
}

void loss_scale_update(const Call& call) {
  double &scale = call.updates[0].data[0], &since_change = call.updates[0].data[1],
         &updates = call.updates[0].data[2];
  const Attributes& a = call.attributes;
  if (call.inputs[0].data[0] == 0) {
    scale = std::max(scale / 2, a.real("least"));
    since_change = 0;
    return;
  }
  updates += 1;
  since_change += 1;
  if (since_change < a.real("interval")) return;
  scale = std::min(scale * 2, a.real("most"));
  since_change = 0;
}

}  // namespace voxswap::net::reference
