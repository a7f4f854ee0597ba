#include "net/backends/cuda/convolution_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

bool allowed(const EngineOffer& offer, ElementType type, const PlanRules& rules) {
  if (rules.deterministic && offer.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (offer.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;  // sums are f32
  if (offer.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && !rules.tensor_floats) return false;
  // Tensor cores process f32 only as TF32, with 10 bits of mantissa.
  return type != ElementType::f32 || rules.tensor_floats || !offer.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

// Found with cuDNN 9.19 on an H100, in f32 and bf16: these engines assume as much padding behind as in front.
// If there is more in front, they read outside the volume.
bool misreads_uneven_padding(const EngineOffer& offer, const ConvolutionProblem& problem) {
  const auto even = [](const KernelAxis& axis) { return axis.before == axis.behind; };
  return problem.kind == ConvolutionProblem::Kind::weight_gradient &&
         (offer.engine == 1 || offer.engine == 20) &&
         !std::all_of(problem.axes.begin(), problem.axes.end(), even);
}

ConvolutionPlan::ConvolutionPlan(const EngineOffer& offer, const PlanDevice& device)
    : name(offer.name()),
      choice(offer.choice()),
      tensor_cores(offer.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)),
      plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, offer.configuration);
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
  const std::vector<EngineOffer> offers = engine_offers(problem, device);
  std::map<std::int64_t, int> of_engine;
  // Engines that are compiled at run time cost seconds for each shape, so they are used only if there is no
  // other.
  for (const bool compiled_at_run_time : {false, true}) {
    if (!plans.empty()) break;
    for (const EngineOffer& offer : offers) {
      if (plans.size() >= most) return plans;
      if (offer.compiled_at_run_time() != compiled_at_run_time) continue;
      if (!allowed(offer, problem.type, rules) || misreads_uneven_padding(offer, problem)) continue;
      if (of_engine[offer.engine] >= rules.most_of_an_engine) continue;
      auto plan = std::make_shared<ConvolutionPlan>(offer, device);
      if (!plan->supported() || plan->workspace_bytes() > rules.workspace_limit) continue;
      plans.push_back(std::move(plan));
      ++of_engine[offer.engine];
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

namespace {

constexpr std::size_t most_configurations = 64, most_knobs = 64;

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

std::vector<std::pair<std::int64_t, std::int64_t>> knobs_of(const Descriptor& configuration) {
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;
  for (const Descriptor& choice : configuration.descriptors(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, most_knobs)) {
    const std::vector<std::int32_t> kind =
        choice.enumeration(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1);
    knobs.emplace_back(kind.empty() ? -1 : kind[0], choice.integer(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  std::sort(knobs.begin(), knobs.end());
  return knobs;
}

EngineOffer offer_of(Descriptor configuration) {
  const std::vector<Descriptor> engines =
      configuration.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) fail(Exit::failed, "cuDNN: an engine configuration without an engine");
  EngineOffer offer;
  offer.engine = engines[0].integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  offer.knobs = knobs_of(configuration);
  offer.numerical = engines[0].enumeration(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                           CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  offer.behaviour = engines[0].enumeration(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                           CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  offer.configuration = std::move(configuration);
  return offer;
}

}  // namespace

bool EngineOffer::has(cudnnBackendNumericalNote_t note) const {
  return std::find(numerical.begin(), numerical.end(), note) != numerical.end();
}

bool EngineOffer::compiled_at_run_time() const {
  return std::find(behaviour.begin(), behaviour.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
         behaviour.end();
}

std::string EngineOffer::name() const {
  return format("cuDNN engine {}{}{}", engine, has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ? ", tensor cores" : "",
                compiled_at_run_time() ? ", compiled at run time" : "");
}

std::string EngineOffer::choice() const {
  std::string text = std::to_string(engine);
  for (const auto& [kind, value] : knobs) text += format(" {}={}", kind, value);
  return text;
}

std::string EngineOffer::notes_text() const {
  static const std::map<std::int32_t, const char*> names = {
      {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, "tensor cores"},
      {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "rounds its inputs"},
      {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "sums in less than f32"},
      {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "sums in any order"}};
  std::vector<std::string> parts;
  for (const std::int32_t note : numerical) {
    const auto found = names.find(note);
    parts.push_back(found != names.end() ? found->second : format("numerical note {}", note));
  }
  for (const std::int32_t note : behaviour)
    parts.push_back(note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION ? "compiled at run time"
                                                                    : format("behaviour note {}", note));
  return join(parts, "; ");
}

std::vector<EngineOffer> engine_offers(const ConvolutionProblem& problem, const PlanDevice& device) {
  std::vector<EngineOffer> offers;
  std::set<std::string> known;  // the fallback list repeats offers
  const Descriptor graph = operation_graph(problem, device);
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (Descriptor& configuration : configurations(graph, device, mode)) {
      EngineOffer offer = offer_of(std::move(configuration));
      if (known.insert(offer.choice()).second) offers.push_back(std::move(offer));
    }
  return offers;
}

}  // namespace voxswap::net::cuda
