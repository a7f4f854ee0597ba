// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, in one pass over parameter and moments.
// One launch per parameter: each is updated as soon as its gradient is there, so that no gradient is kept.
#include <cmath>

#include "net/backends/cuda/launch.h"
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/walk.cuh"

namespace voxswap::cuda {

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
  float unscale = 1;  // 1 / the scale of the gradient

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

// The first `rest` threads of the first block also do what is left after the last whole vector.
__global__ void update(Rows rows, int rest, Adam adam, LossScale scale, const float* gradient,
                       float* parameter, float* m, float* v) {
  constexpr int width = full_width<float>;
  if (scale.state != nullptr) {
    if (*scale.finite == 0) return;
    const float step = scale.state[2] + 1;
    adam.correct1 = correction(adam.log_beta1, step);
    adam.correct2 = correction(adam.log_beta2, step);
    adam.unscale = 1 / scale.state[0];
  }
  using Four = Vector<float, width>;
  struct Loaded {
    Four gradient, parameter, m, v;
  };
  go_down<2>(
      walk_of_thread(rows),
      [&](std::int64_t i) {
        return Loaded{load<width>(gradient, i), load<width>(parameter, i), load<width>(m, i),
                      load<width>(v, i)};
      },
      [&](std::int64_t i, Loaded& now) {
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          adam.update(now.gradient.lane[lane], now.parameter.lane[lane], now.m.lane[lane], now.v.lane[lane]);
        }
        store(parameter, i, now.parameter);
        store(m, i, now.m);
        store(v, i, now.v);
      });
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < rest) {
    const std::int64_t i = rows.vectors * width + threadIdx.x;
    adam.update(gradient[i], parameter[i], m[i], v[i]);
  }
}

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node, Device& device) {
  need_f32(node.name, graph.value(node.updates[0]).type);
  const std::int64_t count = input_shape(graph, node).count();
  const Rows rows = cut_flat(device, count, full_width<float>);
  const int rest = static_cast<int>(count % full_width<float>);
  const bool scaled = node.inputs.size() > 1;
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
        scaled ? LossScale{input<float>(arguments, 1), input<float>(arguments, 2)} : LossScale{};
    const auto array = [&](std::size_t i) { return static_cast<float*>(arguments.updates[i]); };
    launch("adam", update, blocks_of(rows), rows.threads(), rows, rest, adam, scale,
           input<float>(arguments, 0), array(0), array(1), array(2));
  });
}

}  // namespace voxswap::cuda
