// Parameter updates, the loss scale and gradient clipping.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"

namespace voxswap::net::cuda {

// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay, and SGD with Nesterov momentum. One pass
// over parameters and states, and one launch for all parameters of a node.

namespace {

// 1 / (1 - beta^step), given the logarithm of beta.
__host__ __device__ inline float correction(float log_beta, float step) {
  return -1 / expm1f(step * log_beta);
}

struct Adam {
  static constexpr const char* name = "adam";
  static constexpr int states = 2;
  float keep1, new1, keep2, new2;  // beta and 1 - beta of both moments
  float log_beta1, log_beta2;
  float correct1, correct2;  // corrections of both moments
  float epsilon, rate, decay;

  __device__ void count_from(float step) {
    correct1 = correction(log_beta1, step);
    correct2 = correction(log_beta2, step);
  }
  __device__ void update(float gradient, float& parameter, float* const (&state)[states]) const {
    float &m = *state[0], &v = *state[1];
    m = m * keep1 + gradient * new1;
    v = v * keep2 + gradient * gradient * new2;
    const float direction = m * correct1 / (sqrtf(v * correct2) + epsilon);
    parameter -= (direction + parameter * decay) * rate;
  }
};

struct Sgd {
  static constexpr const char* name = "sgd";
  static constexpr int states = 1;
  float momentum, rate, decay;

  __device__ void count_from(float) {}
  __device__ void update(float gradient, float& parameter, float* const (&state)[states]) const {
    const float direction = gradient + parameter * decay;
    *state[0] = *state[0] * momentum + direction;
    parameter -= (direction + *state[0] * momentum) * rate;
  }
};

// Optional inputs after the gradients: the state of the loss scale and whether this step's gradients are
// finite (null without loss scaling), and the clipping factor (null without clipping).
struct Extras {
  const float *state, *finite, *clip;
};

// A gradient, and the arrays that it updates.
template <int states>
struct Arrays {
  const float* gradient;
  float* parameter;
  float* state[states];
  std::int64_t count;
};

// The parameters of one launch, with a row of blocks for each.
template <int states>
struct Table {
  Arrays<states> row[100];
};
static_assert(sizeof(Table<2>) + sizeof(Extras) + sizeof(Adam) <= 4096,
              "kernel arguments take at most 4 KiB");

// The first threads also process the remainder after the last whole vector.
template <class Rule>
__global__ void update(Table<Rule::states> table, Extras extras, Rule rule) {
  constexpr int width = full_width<float>, states = Rule::states;
  float factor = 1;
  if (extras.state != nullptr) {
    if (*extras.finite == 0) return;
    rule.count_from(extras.state[2] + 1);
    factor = 1 / extras.state[0];
  }
  if (extras.clip != nullptr) factor *= *extras.clip;
  const Arrays<states> arrays = table.row[blockIdx.y];
  const std::int64_t thread = index_of_thread(), vectors = arrays.count / width;
  using Four = Vector<float, width>;
  struct Loaded {
    Four gradient, parameter, state[states];
  };
  go_down<2>(
      Walk{thread, static_cast<std::int64_t>(gridDim.x) * blockDim.x, vectors},
      [&](std::int64_t i) {
        Loaded loaded{load<width>(arrays.gradient, i), load<width>(arrays.parameter, i), {}};
        for (int k = 0; k < states; ++k) loaded.state[k] = load<width>(arrays.state[k], i);
        return loaded;
      },
      [&](std::int64_t i, Loaded& now) {
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          float* state[states];
          for (int k = 0; k < states; ++k) state[k] = &now.state[k].lane[lane];
          rule.update(now.gradient.lane[lane] * factor, now.parameter.lane[lane], state);
        }
        store(arrays.parameter, i, now.parameter);
        for (int k = 0; k < states; ++k) store(arrays.state[k], i, now.state[k]);
      });
  const std::int64_t i = vectors * width + thread;
  if (i >= arrays.count) return;
  float* state[states];
  for (int k = 0; k < states; ++k) state[k] = arrays.state[k] + i;
  rule.update(arrays.gradient[i] * factor, arrays.parameter[i], state);
}

float f32(double x) {
  return static_cast<float>(x);
}

// `make_rule(context)` returns the update rule of a step.
template <class Rule, class MakeRule>
std::unique_ptr<Kernel> make_update(const Graph& graph, const Node& node, Device& device,
                                    MakeRule make_rule) {
  constexpr std::size_t states = Rule::states, each = 1 + states;
  for (const ValueId id : node.updates) need_f32(node.name, graph.value(id).type);
  const std::size_t parameters = node.updates.size() / each, more = node.inputs.size() - parameters;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < parameters; ++i) counts.push_back(input_shape(graph, node, i).count());
  const Rows rows = cut_flat(device, *std::max_element(counts.begin(), counts.end()), full_width<float>);
  return make_own(rows, [=](const KernelArguments& arguments) {
    const auto extra = [&](std::size_t i, bool there) {
      return there ? input<float>(arguments, parameters + i) : nullptr;
    };
    const Extras extras = {extra(0, more >= 2), extra(1, more >= 2), extra(more - 1, more % 2 == 1)};
    const auto updated = [&](std::size_t i) { return static_cast<float*>(arguments.updates[i]); };
    const Rule rule = make_rule(*arguments.context);
    Table<Rule::states> table = {};
    for (std::size_t i = 0, next = 0; i < parameters; i = next) {
      next = std::min(parameters, i + std::size(table.row));
      for (std::size_t k = i; k < next; ++k) {
        Arrays<Rule::states>& row = table.row[k - i];
        row = {input<float>(arguments, k), updated(each * k), {}, counts[k]};
        for (std::size_t s = 0; s < states; ++s) row.state[s] = updated(each * k + 1 + s);
      }
      const dim3 blocks(static_cast<unsigned>(rows.chunks), static_cast<unsigned>(next - i));
      launch(Rule::name, update<Rule>, blocks, rows.threads(), table, extras, rule);
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_adam(const Graph& graph, const Node& node, Device& device) {
  const double beta1 = node.attributes.real("beta1"), beta2 = node.attributes.real("beta2");
  const float log1 = f32(std::log(beta1)), log2 = f32(std::log(beta2));
  const float epsilon = f32(node.attributes.real("epsilon"));
  const float decay = f32(node.attributes.real("weight_decay"));
  return make_update<Adam>(graph, node, device, [=](const StepContext& context) {
    const auto step = static_cast<float>(context.step);
    return Adam{.keep1 = f32(beta1),
                .new1 = f32(1 - beta1),
                .keep2 = f32(beta2),
                .new2 = f32(1 - beta2),
                .log_beta1 = log1,
                .log_beta2 = log2,
                .correct1 = correction(log1, step),
                .correct2 = correction(log2, step),
                .epsilon = epsilon,
                .rate = f32(context.learning_rate),
                .decay = decay};
  });
}

std::unique_ptr<Kernel> make_sgd(const Graph& graph, const Node& node, Device& device) {
  const float momentum = f32(node.attributes.real("momentum"));
  const float decay = f32(node.attributes.real("weight_decay"));
  return make_update<Sgd>(graph, node, device, [=](const StepContext& context) {
    return Sgd{momentum, f32(context.learning_rate), decay};
  });
}

// Dynamic loss scaling (net/ops/updates.cpp): the seed of the backward pass, the check for finite
// gradients, the update of the scale. The state is [3]: the scale, the updates since it changed, the total
// number of updates.

namespace {

__global__ void copy_scale(const float* state, float* seed) {
  *seed = state[0];
}

__global__ void start_finite(const float* so_far, float* finite) {
  *finite = so_far == nullptr || *so_far != 0 ? 1.0f : 0.0f;
}

__device__ inline bool is_finite(float x) {
  return fabsf(x) <= std::numeric_limits<float>::max();  // false for NaN
}

// All threads that write, write the same value. The first `rest` threads of the first block also check the
// remainder after the last whole vector.
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

// Gradient clipping by the norm (net/ops/updates.cpp): squares are summed per block, in double, then over
// blocks in order.

namespace {

constexpr std::int64_t most_blocks = 256;

// The sum of `mine` over the threads of a block, in the first thread.
__device__ inline double sum_of_block(double mine) {
  __shared__ double shared[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = mine;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  return shared[0];
}

__global__ void squares_of_blocks(std::int64_t count, const float* x, double* written) {
  double sum = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = index_of_thread(); i < count; i += step) sum += static_cast<double>(x[i]) * x[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) written[blockIdx.x] = sum;
}

__global__ void add_blocks(const double* written, int blocks, const float* so_far, float* sum) {
  double all = so_far == nullptr ? 0 : static_cast<double>(*so_far);
  for (int i = 0; i < blocks; ++i) all += written[i];
  *sum = static_cast<float>(all);
}

__global__ void find_factor(const float* squares, const float* scale, double most, float* factor) {
  const double norm = sqrt(static_cast<double>(*squares)) / (scale == nullptr ? 1.0 : scale[0]);
  *factor = static_cast<float>(fmin(1.0, most / (norm + 1e-6)));
}

const float* second(const KernelArguments& arguments) {
  return arguments.inputs.size() > 1 ? input<float>(arguments, 1) : nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_sum_of_squares(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t count = input_shape(graph, node).count();
  const std::int64_t blocks = std::min(most_blocks, (count + block_threads - 1) / block_threads);
  return make_own(
      [=](const KernelArguments& arguments) {
        double* written = place<double>(arguments, 0);
        launch("sum_of_squares", squares_of_blocks, dim3(static_cast<unsigned>(blocks)), block_threads, count,
               input<float>(arguments, 0), written);
        launch("sum_of_squares, finish", add_blocks, dim3(1), 1, written, static_cast<int>(blocks),
               second(arguments), output<float>(arguments));
      },
      blocks * static_cast<std::int64_t>(sizeof(double)));
}

std::unique_ptr<Kernel> make_clip_factor(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  return make_own([most = node.attributes.real("most")](const KernelArguments& arguments) {
    launch("clip_factor", find_factor, dim3(1), 1, input<float>(arguments, 0), second(arguments), most,
           output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
