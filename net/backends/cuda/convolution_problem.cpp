#include "net/backends/cuda/convolution_problem.h"

#include <array>

#include "base/text.h"
#include "net/backends/cuda/kernels.h"
#include "net/backends/function_kernel.h"
#include "net/backends/windowed.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net::cuda {

namespace {

using Problem = ConvolutionProblem;

Problem problem_of(Problem::Kind kind, const Value& x, const Value& y, const KernelAxes& axes) {
  Problem problem;
  problem.kind = kind;
  problem.type = x.type;
  problem.x = x.shape;
  problem.y = y.shape;
  problem.axes = axes;
  return problem;
}

// A number for all axes, or one for each: "3", "1x3x3".
template <class Get>
std::string axes_text(const KernelAxes& axes, Get get) {
  if (get(axes[0]) == get(axes[2]) && get(axes[1]) == get(axes[2])) return format("{}", get(axes[2]));
  return format("{}x{}x{}", get(axes[0]), get(axes[1]), get(axes[2]));
}

}  // namespace

std::string ConvolutionProblem::text() const {
  constexpr std::array kinds = {"forward", "data_gradient", "weight_gradient"};
  constexpr std::array starts = {"zero", "bias", "sum"};
  const auto of_axes = [&](auto get) { return axes_text(axes, get); };
  KernelAxes sides = axes;  // depth padding that differs is written separately
  sides[0].before = axes[2].before;
  const bool same = axes[0].before == axes[2].before && axes[0].behind == axes[2].before;
  const std::string dilation = of_axes([](const KernelAxis& axis) { return axis.dilation; });
  return format("{} from {} {} x {} y {} kernel {} stride {} padding {}{}{}",
                kinds[static_cast<std::size_t>(kind)], starts[static_cast<std::size_t>(start)],
                element_name(type), x.text(), y.text(), of_axes([](const KernelAxis& a) { return a.kernel; }),
                of_axes([](const KernelAxis& a) { return a.stride; }),
                axes_text(sides, [](const KernelAxis& a) { return a.before; }),
                same ? "" : format(" depth {} and {}", axes[0].before, axes[0].behind),
                dilation == "1" ? "" : format(" dilation {}", dilation));
}

std::optional<Problem> convolution_problem(const Graph& graph, const Node& node) {
  const auto value = [&](const std::vector<ValueId>& ids, std::size_t i) -> const Value& {
    return graph.value(ids[i]);
  };
  const std::string_view name = node.operation->name;
  if (name == "conv3d" || name == "conv3d_sum") {
    Problem problem = problem_of(Problem::Kind::forward, value(node.inputs, 0), value(node.outputs, 0),
                                 kernel_axes(node.attributes, value(node.inputs, 1).shape));
    if (node.inputs.size() > 2) problem.start = name == "conv3d" ? Problem::Start::bias : Problem::Start::sum;
    return problem;
  }
  if (name == "conv3d_data_gradient")
    return problem_of(Problem::Kind::data_gradient, value(node.outputs, 0), value(node.inputs, 0),
                      kernel_axes(node.attributes, value(node.inputs, 1).shape));
  if (name == "conv3d_weight_gradient")
    return problem_of(Problem::Kind::weight_gradient, value(node.inputs, 0), value(node.inputs, 1),
                      kernel_axes(node.attributes));
  return std::nullopt;
}

std::vector<Problem> convolution_problems(const Graph& graph, const Node& node) {
  std::vector<Problem> problems;
  if (node.operation->inner == nullptr) {
    if (const auto problem = convolution_problem(graph, node)) problems.push_back(*problem);
    return problems;
  }
  const auto look = [&](const Graph& inner, const Node& part) {
    if (const auto problem = convolution_problem(inner, part)) problems.push_back(*problem);
    return make_function_kernel([](const KernelArguments&) {}, 0, "");
  };
  make_windowed(graph, node, {look, nullptr, vector_bytes});
  return problems;
}

bool is_matrix_product(const Problem& problem) {
  return is_pointwise(problem.axes);
}

}  // namespace voxswap::net::cuda
