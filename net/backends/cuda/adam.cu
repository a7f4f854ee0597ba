// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, in one pass over parameters and moments
// and one launch for all parameters of a node.
#include <algorithm>
#include <cmath>
#include <vector>

#include "net/backends/cuda/indices.cuh"
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/walk.cuh"

namespace voxswap::net::cuda {

namespace {

// 1 / (1 - beta^step), of the logarithm of beta.
__host__ __device__ inline float correction(float log_beta, float step) {
  return -1 / expm1f(step * log_beta);
}

struct Adam {
  float keep1, new1, keep2, new2;  // beta and 1 - beta of both moments
  float log_beta1, log_beta2;
  float correct1, correct2;  // corrections of both moments
  float epsilon, rate, decay;
  float unscale = 1;  // 1 / the scale of the gradients

  __device__ void update(float gradient, float& parameter, float& m, float& v) const {
    gradient *= unscale;
    m = m * keep1 + gradient * new1;
    v = v * keep2 + gradient * gradient * new2;
    const float direction = m * correct1 / (sqrtf(v * correct2) + epsilon);
    parameter -= (direction + parameter * decay) * rate;
  }
};

// The state of the loss scale and whether this step's gradients are finite; null without loss scaling.
struct LossScale {
  const float *state, *finite;
};

// A gradient, and what it updates.
struct Arrays {
  const float* gradient;
  float *parameter, *m, *v;
  std::int64_t count;
};

// The parameters of one launch, a row of blocks for each.
struct Table {
  Arrays row[100];
};
static_assert(sizeof(Table) + sizeof(LossScale) + sizeof(Adam) <= 4096, "what any launch takes as arguments");

// The first threads also do what is left after the last whole vector.
__global__ void update(Table table, LossScale scale, Adam adam) {
  constexpr int width = full_width<float>;
  if (scale.state != nullptr) {
    if (*scale.finite == 0) return;
    const float step = scale.state[2] + 1;
    adam.correct1 = correction(adam.log_beta1, step);
    adam.correct2 = correction(adam.log_beta2, step);
    adam.unscale = 1 / scale.state[0];
  }
  const Arrays arrays = table.row[blockIdx.y];
  const std::int64_t thread = index_of_thread(), vectors = arrays.count / width;
  using Four = Vector<float, width>;
  struct Loaded {
    Four gradient, parameter, m, v;
  };
  go_down<2>(
      Walk{thread, static_cast<std::int64_t>(gridDim.x) * blockDim.x, vectors},
      [&](std::int64_t i) {
        return Loaded{load<width>(arrays.gradient, i), load<width>(arrays.parameter, i),
                      load<width>(arrays.m, i), load<width>(arrays.v, i)};
      },
      [&](std::int64_t i, Loaded& now) {
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          adam.update(now.gradient.lane[lane], now.parameter.lane[lane], now.m.lane[lane], now.v.lane[lane]);
        }
        store(arrays.parameter, i, now.parameter);
        store(arrays.m, i, now.m);
        store(arrays.v, i, now.v);
      });
  const std::int64_t i = vectors * width + thread;
  if (i < arrays.count) adam.update(arrays.gradient[i], arrays.parameter[i], arrays.m[i], arrays.v[i]);
}

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node, Device& device) {
  for (const ValueId id : node.updates) need_f32(node.name, graph.value(id).type);
  const std::size_t parameters = node.updates.size() / 3;
  const bool scaled = node.inputs.size() > parameters;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < parameters; ++i) counts.push_back(input_shape(graph, node, i).count());
  const Rows rows = cut_flat(device, *std::max_element(counts.begin(), counts.end()), full_width<float>);
  const double beta1 = node.attributes.real("beta1"), beta2 = node.attributes.real("beta2");
  const auto log1 = static_cast<float>(std::log(beta1)), log2 = static_cast<float>(std::log(beta2));
  const auto epsilon = static_cast<float>(node.attributes.real("epsilon"));
  const auto decay = static_cast<float>(node.attributes.real("weight_decay"));
  return make_own(rows, [=](const KernelArguments& arguments) {
    const auto step = static_cast<float>(arguments.context->step);
    const auto f32 = [](double x) { return static_cast<float>(x); };
    const Adam adam = {.keep1 = f32(beta1),
                       .new1 = f32(1 - beta1),
                       .keep2 = f32(beta2),
                       .new2 = f32(1 - beta2),
                       .log_beta1 = log1,
                       .log_beta2 = log2,
                       .correct1 = correction(log1, step),
                       .correct2 = correction(log2, step),
                       .epsilon = epsilon,
                       .rate = f32(arguments.context->learning_rate),
                       .decay = decay};
    const LossScale scale =
        scaled ? LossScale{input<float>(arguments, parameters), input<float>(arguments, parameters + 1)}
               : LossScale{};
    const auto updated = [&](std::size_t i) { return static_cast<float*>(arguments.updates[i]); };
    Table table = {};
    for (std::size_t i = 0, next = 0; i < parameters; i = next) {
      next = std::min(parameters, i + std::size(table.row));
      for (std::size_t k = i; k < next; ++k)
        table.row[k - i] = {input<float>(arguments, k), updated(3 * k), updated(3 * k + 1),
                            updated(3 * k + 2), counts[k]};
      const dim3 blocks(static_cast<unsigned>(rows.chunks), static_cast<unsigned>(next - i));
      launch("adam", update, blocks, rows.threads(), table, scale, adam);
    }
  });
}

}  // namespace voxswap::net::cuda
