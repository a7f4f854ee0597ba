// Dynamic loss scaling (net/ops/loss_scale.cpp): the seed of the backward pass, the check for finite
// gradients, the update of the scale. The state is [3]: the scale, the updates since it changed, the total
// number of updates.
#include <limits>

#include "net/backends/cuda/launch.h"
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/walk.cuh"

namespace voxswap::net::cuda {

namespace {

__global__ void copy_scale(const float* state, float* seed) {
  *seed = state[0];
}

__global__ void start_finite(const float* so_far, float* finite) {
  *finite = so_far == nullptr || *so_far != 0 ? 1.0f : 0.0f;
}

__device__ inline bool is_finite(float x) {
  return fabsf(x) <= std::numeric_limits<float>::max();  // not of NaN
}

// All threads that write, write the same. The first `rest` threads of the first block also look at what is
// left after the last whole vector.
__global__ void look_for_infinite(Rows rows, int rest, const float* gradient, float* finite) {
  constexpr int width = full_width<float>;
  bool all = true;
  go_down<4>(
      walk_of_thread(rows), [&](std::int64_t vector) { return load<width>(gradient, vector); },
      [&](std::int64_t, const Vector<float, width>& loaded) {
        for (int lane = 0; lane < width; ++lane) all = all && is_finite(loaded.lane[lane]);
      });
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < rest)
    all = all && is_finite(gradient[rows.vectors * width + threadIdx.x]);
  if (!all) *finite = 0;
}

struct ScaleRule {
  float interval, least, most;
};

__global__ void update_scale(const float* finite, ScaleRule rule, float* state) {
  if (*finite == 0) {
    state[0] = fmaxf(state[0] / 2, rule.least);
    state[1] = 0;
    return;
  }
  state[2] += 1;
  state[1] += 1;
  if (state[1] < rule.interval) return;
  state[0] = fminf(state[0] * 2, rule.most);
  state[1] = 0;
}

}  // namespace

std::unique_ptr<Kernel> make_loss_scale_seed(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  return make_own([](const KernelArguments& arguments) {
    launch("loss_scale_seed", copy_scale, dim3(1), 1, input<float>(arguments, 0), output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_all_finite(const Graph& graph, const Node& node, Device& device) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t count = input_shape(graph, node).count();
  const Rows rows = cut_flat(device, count, full_width<float>);
  const int rest = static_cast<int>(count % full_width<float>);
  return make_own([=](const KernelArguments& arguments) {
    const float* so_far = arguments.inputs.size() > 1 ? input<float>(arguments, 1) : nullptr;
    launch("all_finite, start", start_finite, dim3(1), 1, so_far, output<float>(arguments));
    launch("all_finite", look_for_infinite, blocks_of(rows), rows.threads(), rows, rest,
           input<float>(arguments, 0), output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_loss_scale_update(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const auto number = [&](const char* name) { return static_cast<float>(node.attributes.real(name)); };
  const ScaleRule rule = {number("interval"), number("least"), number("most")};
  return make_own([rule](const KernelArguments& arguments) {
    launch("loss_scale_update", update_scale, dim3(1), 1, input<float>(arguments, 0), rule,
           static_cast<float*>(arguments.updates[0]));
  });
}

}  // namespace voxswap::net::cuda
