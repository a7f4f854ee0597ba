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

Problem problem_of(Problem::Kind kind, const Node& node, const Value& x, const Value& y,
                   std::int64_t kernel) {
  Problem problem;
  problem.kind = kind;
  problem.type = x.type;
  problem.x = x.shape;
  problem.y = y.shape;
  problem.kernel = kernel;
  problem.stride = node.attributes.integer("stride");
  problem.padding = node.attributes.integer("padding");
  problem.front = node.attributes.integer_or("front", -1);
  problem.back = node.attributes.integer_or("back", -1);
  return problem;
}

}  // namespace

std::string ConvolutionProblem::text() const {
  constexpr std::array kinds = {"forward", "data_gradient", "weight_gradient"};
  constexpr std::array starts = {"zero", "bias", "sum"};
  const bool same = padding_before() == padding && padding_behind() == padding;
  return format("{} from {} {} x {} y {} kernel {} stride {} padding {}{}",
                kinds[static_cast<std::size_t>(kind)], starts[static_cast<std::size_t>(start)],
                element_name(type), x.text(), y.text(), kernel, stride, padding,
                same ? "" : format(" depth {} and {}", padding_before(), padding_behind()));
}

std::optional<Problem> convolution_problem(const Graph& graph, const Node& node) {
  const auto value = [&](const std::vector<ValueId>& ids, std::size_t i) -> const Value& {
    return graph.value(ids[i]);
  };
  const std::string_view name = node.operation->name;
  if (name == "conv3d" || name == "conv3d_sum") {
    Problem problem = problem_of(Problem::Kind::forward, node, value(node.inputs, 0), value(node.outputs, 0),
                                 value(node.inputs, 1).shape[2]);
    if (node.inputs.size() > 2) problem.start = name == "conv3d" ? Problem::Start::bias : Problem::Start::sum;
    return problem;
  }
  if (name == "conv3d_data_gradient")
    return problem_of(Problem::Kind::data_gradient, node, value(node.outputs, 0), value(node.inputs, 0),
                      value(node.inputs, 1).shape[2]);
  if (name == "conv3d_weight_gradient")
    return problem_of(Problem::Kind::weight_gradient, node, value(node.inputs, 0), value(node.inputs, 1),
                      node.attributes.integer("kernel"));
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
  return problem.kernel == 1 && problem.stride == 1 && problem.padding == 0 &&
         problem.padding_before() == 0 && problem.padding_behind() == 0;
}

}  // namespace voxswap::net::cuda
