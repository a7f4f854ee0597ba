// Batch normalisation (Ioffe & Szegedy 2015), implemented as instance normalisation with statistics of all
// samples together. norm.cpp makes the passes over volumes; the operations here handle a few
// numbers per channel. Statistics and sums are stored once per sample, as those passes read them.
//
// Prediction uses running means and variances, which training keeps as persistent values.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

bool is_statistics(const Graph& graph, ValueId id) {
  return shape_of(graph, id).rank() == 3 && shape_of(graph, id)[2] == 2;
}

Specs infer_of_batch(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && is_statistics(graph, inputs[0]));
  return like(graph, inputs[0]);
}

Specs infer_running(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2 && shape_of(graph, inputs[0]).rank() == 1);
  assert(shape_of(graph, inputs[0]) == shape_of(graph, inputs[1]));
  return {{{attributes.integer("n"), shape_of(graph, inputs[0])[0], 2}, graph.value(inputs[0]).type}};
}

Specs infer_update(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 && is_statistics(graph, inputs[0]) && attributes.integer("count") > 0);
  return {};
}

Operation mixing(Operation operation) {
  operation.mixes_samples = true;
  return operation;
}

}  // namespace

// statistics[N,C,2] of each sample (mean, 1/sqrt(variance + epsilon)), over as many voxels each -> the same
// of all samples together, N times: mean = mean_n, variance = mean of variance_n + (mean_n - mean)^2.
// Attribute epsilon.
const Operation& statistics_of_batch() {
  static const Operation operation =
      mixing({"statistics_of_batch", infer_of_batch, no_gradient, per_element<4>, whole});
  return operation;
}

// sums[N,C,2] -> their sums over the samples, N times.
const Operation& sums_of_batch() {
  static const Operation operation =
      mixing({"sums_of_batch", infer_of_batch, nullptr, per_element<1>, whole});
  return operation;
}

// mean[C], variance[C] full -> statistics[N,C,2]: mean, 1/sqrt(variance + epsilon), N times. Attributes n,
// epsilon.
const Operation& running_statistics() {
  static const Operation operation = {"running_statistics", infer_running, nullptr, per_element<2>, whole, {},
                                      /*cheap=*/true};
  return operation;
}

// statistics[N,C,2] of the batch; updates mean[C], variance[C]: r += momentum (b - r), where b is the value
// of the batch, for the variance times count / (count - 1). Attributes momentum, epsilon, count (voxels of
// the batch).
const Operation& running_statistics_update() {
  static const Operation operation = {"running_statistics_update", infer_update, nullptr, per_element<4>,
                                      whole};
  return operation;
}

}  // namespace voxswap::net::ops
