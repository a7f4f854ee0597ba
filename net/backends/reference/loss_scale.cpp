// Dynamic loss scaling: the seed of the backward pass, the check for finite gradients, the update of the
// scale.
#include <algorithm>
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

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
