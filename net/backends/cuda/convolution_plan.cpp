#include "net/backends/cuda/convolution_plan.h"

#include <map>

#include "base/error.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

bool allowed(const EngineOffer& offer, ElementType type, const PlanRules& rules) {
  if (rules.deterministic && offer.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (offer.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;  // sums are f32
  if (offer.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && !rules.tensor_floats) return false;
  // The tensor cores take f32 only as TF32, with 10 bits of mantissa.
  return type != ElementType::f32 || rules.tensor_floats || !offer.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
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
  // What has to be compiled when the program runs costs seconds for each shape: only where there is no other.
  for (const bool compiled_at_run_time : {false, true}) {
    if (!plans.empty()) break;
    for (const EngineOffer& offer : offers) {
      if (plans.size() >= most) return plans;
      if (offer.compiled_at_run_time() != compiled_at_run_time) continue;
      if (!allowed(offer, problem.type, rules)) continue;
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

}  // namespace voxswap::net::cuda
