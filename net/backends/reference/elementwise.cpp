// Elementwise operations, and operations without inputs.
#include <cmath>

#include "base/philox.h"
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

template <class Function>
void map(const Call& call, Function function) {
  const Array& result = call.outputs[0];
  for (std::int64_t i = 0; i < result.shape.count(); ++i) result.data[i] = function(call.inputs[0].data[i]);
}

template <class Function>
void map_pairs(const Call& call, Function function) {
  const Array& result = call.outputs[0];
  for (std::int64_t i = 0; i < result.shape.count(); ++i) {
    result.data[i] = function(call.inputs[0].data[i], call.inputs[1].data[i]);
  }
}

}  // namespace

void spatial_dropout_scale(const Call& call) {
  const Array& scale = call.outputs[0];
  const double rate = call.attributes.real("rate");
  const Philox random(call.context->seed, static_cast<std::uint64_t>(call.context->step),
                      static_cast<std::uint32_t>(call.attributes.integer("key")));
  for (std::int64_t i = 0; i < scale.shape.count(); ++i) {
    scale.data[i] = random.uniform(static_cast<std::uint64_t>(i)) < rate ? 0 : 1 / (1 - rate);
  }
}

void leaky_relu(const Call& call) {
  const double slope = call.attributes.real("slope");
  map(call, [slope](double x) { return x > 0 ? x : slope * x; });
}

void leaky_relu_gradient(const Call& call) {
  const double slope = call.attributes.real("slope");
  map_pairs(call, [slope](double y, double dy) { return y > 0 ? dy : slope * dy; });
}

void sigmoid(const Call& call) {
  map(call, [](double x) { return 1 / (1 + std::exp(-x)); });
}

void sigmoid_gradient(const Call& call) {
  map_pairs(call, [](double y, double dy) { return dy * y * (1 - y); });
}

void add(const Call& call) {
  map_pairs(call, [](double a, double b) { return a + b; });
}

void cast(const Call& call) {  // the kernel around it rounds to the output's type
  map(call, [](double x) { return x; });
}

void constant(const Call& call) {
  call.outputs[0].data[0] = call.attributes.real("value");
}

}  // namespace voxswap::net::reference
