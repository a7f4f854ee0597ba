#include "net/backends/cuda/convolution_plan.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::cuda {

namespace {

using Problem = ConvolutionProblem;
using Sizes = std::vector<std::int64_t>;

// Names of the tensors within a graph.
enum Id : std::int64_t { id_x = 1, id_w, id_y, id_bias, id_products };

constexpr std::int64_t alignment = 16;  // that is counted on; places are aligned better
constexpr std::size_t most_configurations = 64;

cudnnDataType_t library_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return CUDNN_DATA_FLOAT;
    case ElementType::bf16:
      return CUDNN_DATA_BFLOAT16;
    case ElementType::f16:
      return CUDNN_DATA_HALF;
    default:
      fail(Exit::failed, "the CUDA backend convolves in f32, bf16 and f16, not in {}", element_name(type));
  }
}

// The library names sizes in the order N,C,D,H,W whatever lies innermost; here it is C.
Descriptor tensor(Id id, cudnnDataType_t type, const Sizes& sizes, bool is_virtual = false) {
  const std::int64_t c = sizes[1], d = sizes[2], h = sizes[3], w = sizes[4];
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(id))
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, Sizes{d * h * w * c, 1, h * w * c, w * c, c})
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  if (is_virtual) result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  result.finalize();
  return result;
}

Sizes channels_second(const Shape& shape) {
  return {shape[0], shape[4], shape[1], shape[2], shape[3]};
}

Descriptor window(const Problem& problem) {
  const auto each_axis = [](std::int64_t value) { return Sizes(3, value); };
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{3})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, each_axis(problem.padding))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, each_axis(problem.padding))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, each_axis(problem.stride))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, each_axis(1))
      .finalize();
  return result;
}

// The attributes of one kind of convolution.
struct Operation {
  cudnnBackendDescriptorType_t type;
  Descriptor::Name x, w, y, window, alpha, beta;
};
Operation operation(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case Problem::Kind::data_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case Problem::Kind::weight_gradient:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

Descriptor added(const Descriptor& products, const Descriptor& bias, const Descriptor& y) {
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  Descriptor add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  add.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize();
  Descriptor result(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, products)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)
      .finalize();
  return result;
}

Descriptor operation_graph(const Problem& problem, const PlanDevice& device) {
  const cudnnDataType_t type = library_type(problem.type);
  const std::int64_t k = problem.kernel, channels = problem.y[4];
  const bool with_bias = problem.start == Problem::Start::bias;
  const Descriptor x = tensor(id_x, type, channels_second(problem.x)),
                   w = tensor(id_w, type, {channels, problem.x[4], k, k, k}),
                   y = tensor(id_y, type, channels_second(problem.y)), conv = window(problem);
  Descriptor products, bias, addition;
  if (with_bias) {
    products = tensor(id_products, CUDNN_DATA_FLOAT, channels_second(problem.y), /*is_virtual=*/true);
    bias = tensor(id_bias, type, {1, channels, 1, 1, 1});
    addition = added(products, bias, y);
  }
  const Operation names = operation(problem.kind);
  Descriptor convolution(names.type);
  convolution.set(names.x, x)
      .set(names.w, w)
      .set(names.y, with_bias ? products : y)
      .set(names.window, conv)
      .set(names.alpha, 1.0F)
      .set(names.beta, problem.start == Problem::Start::sum ? 1.0F : 0.0F)
      .finalize();
  std::vector<const Descriptor*> operations = {&convolution};
  if (with_bias) operations.push_back(&addition);
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  if (device.handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, device.handle);
  graph.finalize();
  return graph;
}

std::vector<Descriptor> configurations(const Descriptor& graph, const PlanDevice& device,
                                       cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (device.handle == nullptr) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device.properties);
  if (!heuristics.try_finalize()) return {};
  return heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                most_configurations);
}

// What cuDNN notes of an engine.
struct Notes {
  std::int64_t engine = 0;
  std::vector<std::int32_t> numerical, behaviour;
  bool has(cudnnBackendNumericalNote_t note) const {
    return std::find(numerical.begin(), numerical.end(), note) != numerical.end();
  }
  bool compiles_at_run_time() const {
    return std::find(behaviour.begin(), behaviour.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
           behaviour.end();
  }
  std::string text() const {
    return format("cuDNN engine {}{}{}", engine,
                  has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ? ", tensor cores" : "",
                  compiles_at_run_time() ? ", compiled at run time" : "");
  }
};
Notes notes_of(const Descriptor& configuration) {
  const std::vector<Descriptor> engines =
      configuration.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) fail(Exit::failed, "cuDNN: an engine configuration without an engine");
  return {engines[0].integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
          engines[0].enumeration(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
          engines[0].enumeration(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                 CUDNN_BEHAVIOR_NOTE_TYPE_COUNT)};
}

bool allowed(const Notes& notes, ElementType type, const PlanRules& rules) {
  if (rules.deterministic && notes.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (notes.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;  // sums are f32
  if (notes.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && !rules.tensor_floats) return false;
  // The tensor cores take f32 only as TF32, with 10 bits of mantissa.
  return type != ElementType::f32 || rules.tensor_floats || !notes.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

}  // namespace

std::string ConvolutionProblem::text() const {
  constexpr std::array kinds = {"forward", "data_gradient", "weight_gradient"};
  constexpr std::array starts = {"zero", "bias", "sum"};
  return format("{} from {} {} x {} y {} kernel {} stride {} padding {}",
                kinds[static_cast<std::size_t>(kind)], starts[static_cast<std::size_t>(start)],
                element_name(type), x.text(), y.text(), kernel, stride, padding);
}

PlanDevice described_device(const std::string& json) {
  PlanDevice result = {nullptr, Descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)};
  result.properties
      .set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(json.size()),
           json.data())
      .finalize();
  return result;
}

ConvolutionPlan::ConvolutionPlan(const Descriptor& engine_configuration, const PlanDevice& device)
    : plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine_configuration);
  if (device.handle != nullptr)
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, device.handle);
  else
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.properties);
  supported_ = plan_.try_finalize();
  if (supported_) workspace_bytes_ = plan_.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

std::vector<std::shared_ptr<const ConvolutionPlan>> convolution_plans(const ConvolutionProblem& problem,
                                                                      const PlanDevice& device,
                                                                      const PlanRules& rules,
                                                                      std::size_t most) {
  std::vector<std::shared_ptr<const ConvolutionPlan>> plans;
  const Descriptor graph = operation_graph(problem, device);
  std::map<std::int64_t, int> of_engine;
  // What has to be compiled when the program runs costs seconds for each shape: only where there is no other.
  for (const bool compiled_at_run_time : {false, true}) {
    if (!plans.empty()) break;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      for (const Descriptor& configuration : configurations(graph, device, mode)) {
        if (plans.size() >= most) return plans;
        const Notes notes = notes_of(configuration);
        if (notes.compiles_at_run_time() != compiled_at_run_time) continue;
        if (!allowed(notes, problem.type, rules)) continue;
        if (of_engine[notes.engine] >= rules.most_of_an_engine) continue;
        auto plan = std::make_shared<ConvolutionPlan>(configuration, device);
        if (!plan->supported() || plan->workspace_bytes() > rules.workspace_limit) continue;
        plan->name = notes.text();
        plan->tensor_cores = notes.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
        plans.push_back(std::move(plan));
        ++of_engine[notes.engine];
      }
    }
  }
  return plans;
}

void ConvolutionRunner::run(cudnnHandle_t handle, const Places& places) {
  if (pack_.raw() == nullptr || places != places_) {
    std::vector<std::int64_t> ids = {id_x, id_w, id_y};
    std::vector<void*> pointers = {places.x, places.w, places.y};
    if (places.bias != nullptr) {
      ids.push_back(id_bias);
      pointers.push_back(places.bias);
    }
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<std::int64_t>(pointers.size()), pointers.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &places.workspace)
        .finalize();
    pack_ = std::move(pack);
    places_ = places;
  }
  check(cudnn_library().set_stream(handle, current_stream()), "cudnnSetStream");
  check(cudnn_library().execute(handle, plan_->descriptor().raw(), pack_.raw()), "cudnnBackendExecute");
}

}  // namespace voxswap::cuda
