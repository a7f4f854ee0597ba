// cuDNN's graph API on the emulated GPU: descriptors are checked as its documentation demands, and a graph's
// result is computed on the stream (cudnn_convolution.h). As with the library, the engines offered include
// one that is not supported, one that sums in no fixed order and one that is compiled at run time.
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tests/cuda_emulation/cudnn_convolution.h"
#include "tests/cuda_emulation/cudnn_faults.h"
#include "tests/cuda_emulation/gpu.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using namespace voxswap::emulation;  // all but the functions with cuDNN's names belong to it

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return sizeof(void*);
    default:
      return 4;  // enumerations, f32
  }
}

Content& content(cudnnBackendDescriptor_t descriptor) {
  return **static_cast<Descriptor*>(descriptor);
}

// --- Engines. Their workspaces are about as large as those of the library on an H200 for the tests' smallest
// networks.

struct Engine {
  std::int64_t index;
  std::vector<std::int32_t> numerical, behaviour;
  std::int64_t workspace_bytes;
  bool supported;
  std::int64_t stages = 0;  // a knob; 0: none
};
const std::array engines = {
    Engine{21, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, 0, false},
    Engine{22, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}, 512, true},
    Engine{23, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}, 0, true},
    Engine{24, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, std::int64_t{1} << 40, true},
    Engine{25, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, 64 << 10, true, 2},
    Engine{28, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, 48 << 10, true, 3},
    Engine{26, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, {}, 0, true},
    Engine{27, {}, {}, 32 << 10, true}};

Descriptor configuration(const Engine& engine, const Descriptor& graph) {
  auto made = std::make_shared<Content>(Content{CUDNN_BACKEND_ENGINE_DESCRIPTOR, true, {}});
  made->put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, std::vector{engine.index});
  made->put(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, engine.numerical);
  made->put(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, engine.behaviour);
  made->attributes[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, {}, {graph}};
  auto result = std::make_shared<Content>(Content{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true, {}});
  result->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, {}, {made}};
  Attribute& knobs = result->attributes[CUDNN_ATTR_ENGINECFG_KNOB_CHOICES];
  knobs.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  if (engine.stages > 0) {
    auto knob = std::make_shared<Content>(Content{CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, true, {}});
    knob->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, std::vector{CUDNN_KNOB_TYPE_STAGES});
    knob->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, std::vector{engine.stages});
    knobs.descriptors.push_back(knob);
  }
  return result;
}
const Engine& engine_of(const Content& plan) {
  const Content& engine =
      plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  const auto index = engine.one<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  return *std::find_if(engines.begin(), engines.end(), [&](const Engine& e) { return e.index == index; });
}
const Content& graph_of(const Content& plan) {
  return plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
      .descriptor(CUDNN_ATTR_ENGINECFG_ENGINE)
      .descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
}

// --- Finalizing

bool has_all(const Content& of, std::initializer_list<Name> names) {
  return std::all_of(names.begin(), names.end(), [&](Name name) { return of.has(name); });
}

cudnnStatus_t finalized(Content& of) {
  const auto good = [](bool is) { return is ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; };
  if (const Convolution* names = convolution_of(of.type)) {
    if (!has_all(of, {names->x, names->w, names->y, names->window, names->alpha, names->beta}))
      return CUDNN_STATUS_BAD_PARAM;
    const Tensor x(of.descriptor(names->x)), w(of.descriptor(names->w)), y(of.descriptor(names->y));
    return good(Window(of.descriptor(names->window), x.sizes, w.sizes, y.sizes).fits);
  }
  switch (of.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: {
      if (!has_all(of,
                   {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS,
                    CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT}))
        return CUDNN_STATUS_BAD_PARAM;
      const Tensor tensor(of);
      return good(tensor.sizes.size() == 5 && tensor.strides.size() == 5 && channels_innermost(tensor));
    }
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return good(has_all(of, {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                               CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                               CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                               CUDNN_ATTR_CONVOLUTION_DILATIONS}));
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return good(has_all(of, {CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC}));
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return good(
          has_all(of, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                       CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_YDESC}));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return good(has_all(of, {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_ATTR_OPERATIONGRAPH_HANDLE}));
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return good(has_all(of, {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE}));
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      if (!has_all(of, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_ATTR_EXECUTION_PLAN_HANDLE}))
        return CUDNN_STATUS_BAD_PARAM;
      const Engine& engine = engine_of(of);
      of.put(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, std::vector{engine.workspace_bytes});
      return engine.supported ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
    }
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return good(of.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() ==
                      of.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() &&
                  of.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

// --- Running

std::atomic<std::int64_t> wrong_engine = 0;

class Run {
 public:
  Run(const Content& plan, const Content& pack) : plan_(plan) {
    const auto ids = pack.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (std::size_t i = 0; i < ids.size(); ++i) places_[ids[i]] = pointers[i];
    workspace_ = pack.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  }

  bool may_run() const {
    const std::int64_t bytes = engine_of(plan_).workspace_bytes;
    if (bytes > 0 && !voxswap::emulation::in_device_memory(workspace_, bytes)) return false;
    for (const Descriptor& operation : graph_of(plan_).descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
      for (const auto& [name, attribute] : operation->attributes) {
        for (const Descriptor& of : attribute.descriptors)
          if (of->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && !lies_well(*of)) return false;
      }
    }
    return true;
  }

  void run() {
    voxswap::emulation::scribble(workspace_, engine_of(plan_).workspace_bytes);
    for (const Descriptor& operation : graph_of(plan_).descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
      if (const Convolution* names = convolution_of(operation->type))
        convolve(*operation, *names);
      else
        add(*operation);
    }
  }

 private:
  bool lies_well(const Content& of) const {
    const Tensor tensor(of);
    if (tensor.is_virtual) return !places_.contains(tensor.id);
    const auto found = places_.find(tensor.id);
    const auto alignment = static_cast<std::size_t>(of.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
    return found != places_.end() && reinterpret_cast<std::uintptr_t>(found->second) % alignment == 0 &&
           voxswap::emulation::in_device_memory(found->second, tensor.bytes());
  }
  const void* place(const Tensor& tensor) const {
    return tensor.is_virtual ? nullptr : places_.at(tensor.id);
  }

  void convolve(const Content& operation, const Convolution& names) {
    const Tensor x(operation.descriptor(names.x)), w(operation.descriptor(names.w)),
        y(operation.descriptor(names.y));
    const Tensor& result = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ? y
                           : operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
                               ? x
                               : w;
    std::vector<double> found = convolved(operation, x, w, y, place(x), place(w), place(y));
    const double alpha = operation.one<float>(names.alpha), beta = operation.one<float>(names.beta);
    const std::vector<double> before =
        beta == 0 ? std::vector<double>(found.size(), 0) : values(result, place(result));
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = alpha * found[i] + beta * before[i];
    if (engine_of(plan_).index == wrong_engine)
      std::for_each(found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2), found.end(),
                    [](double& value) { value *= 8; });
    put(result, std::move(found));
  }

  void add(const Content& operation) {
    const Tensor x(operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)),
        b(operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)),
        y(operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
    std::vector<double> sum = x.is_virtual ? virtual_.at(x.id) : values(x, place(x));
    const std::vector<double> bias = values(b, place(b));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bias[i % bias.size()];  // one per channel
    put(y, std::move(sum));
  }

  void put(const Tensor& tensor, std::vector<double> found) {
    if (tensor.is_virtual)
      virtual_[tensor.id] = std::move(found);
    else
      voxswap::net::store_elements(places_.at(tensor.id), found.data(), tensor.type, tensor.count());
  }

  Content plan_;
  std::map<std::int64_t, void*> places_;
  void* workspace_ = nullptr;
  std::map<std::int64_t, std::vector<double>> virtual_;
};

}  // namespace

namespace {

std::atomic<std::size_t> version = 91900;

}  // namespace

void voxswap::emulation::set_wrong_engine(std::int64_t index) {
  wrong_engine = index;
}
void voxswap::emulation::set_cudnn_version(std::size_t the_version) {
  version = the_version;
}

std::size_t cudnnGetVersion() {
  return version;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "a failure";
}
void cudnnGetLastErrorString(char* message, std::size_t most) {
  if (most > 0) message[0] = '\0';
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made) {
  *made = new Descriptor(std::make_shared<Content>(Content{type, false, {}}));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  Content& of = content(descriptor);
  if (of.finalized || count < 1 || values == nullptr) return CUDNN_STATUS_BAD_PARAM;
  Attribute attribute;
  attribute.type = type;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& given = *static_cast<const Descriptor*>(static_cast<void* const*>(values)[i]);
      if (!given->finalized) return CUDNN_STATUS_BAD_PARAM;
      attribute.descriptors.push_back(given);
    }
  } else {
    attribute.bytes.resize(static_cast<std::size_t>(count) * size_of(type));
    std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
  }
  of.attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Content& of = content(descriptor);
  if (of.finalized) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = finalized(of);
  of.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t most,
                                       std::int64_t* count, void* values) {
  const Content& of = content(descriptor);
  if (!of.finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  std::vector<Descriptor> found;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    // The fallback mode offers only the last engine, mode A all others.
    const bool fallback =
        of.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
    const Descriptor& graph = of.descriptors(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).at(0);
    for (const Engine& engine : engines)
      if ((engine.index == engines.back().index) == fallback) found.push_back(configuration(engine, graph));
  } else {
    const auto place = of.attributes.find(name);
    if (place == of.attributes.end() || place->second.type != type) return CUDNN_STATUS_BAD_PARAM;
    if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      const std::vector<std::byte>& bytes = place->second.bytes;
      *count = static_cast<std::int64_t>(bytes.size() / size_of(type));
      std::memcpy(values, bytes.data(),
                  std::min(bytes.size(), static_cast<std::size_t>(most) * size_of(type)));
      return CUDNN_STATUS_SUCCESS;
    }
    found = place->second.descriptors;
  }
  *count = static_cast<std::int64_t>(found.size());
  for (std::size_t i = 0; i < std::min(found.size(), static_cast<std::size_t>(most)); ++i) {
    auto& given = *static_cast<Descriptor*>(static_cast<void**>(values)[i]);
    if (given->type != found[i]->type) return CUDNN_STATUS_BAD_PARAM;
    given = found[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const Content &of = content(plan), &with = content(pack);
  if (!of.finalized || !with.finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  const auto run = std::make_shared<Run>(of, with);
  if (!run->may_run()) return CUDNN_STATUS_BAD_PARAM;
  voxswap::emulation::enqueue(handle->stream, [run] { run->run(); });
  return CUDNN_STATUS_SUCCESS;
}
