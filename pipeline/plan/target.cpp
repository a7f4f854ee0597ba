#include "pipeline/plan/target.h"

#include <algorithm>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/units.h"
#include "net/backends/backends.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/sample_graph.h"

namespace voxswap::pipeline {

std::int64_t without_reserve(std::int64_t free) {
  return std::max<std::int64_t>(free - std::max<std::int64_t>(free / 10, 512LL << 20), 1);
}

namespace {

// Default size of the host pool if device and host share memory: 0, or a part if the pool is needed to reach
// the disk.
std::int64_t shared_pool(const MemoryOptions& memory, std::int64_t usable) {
  if (memory.host_bytes) return *memory.host_bytes;
  return memory.disk_bytes > 0 ? usable / 8 : 0;
}

}  // namespace

swap::Budgets budgets_in_one_memory(std::int64_t usable, const MemoryOptions& memory) {
  swap::Budgets budgets;
  if (!memory.budget_bytes && memory.host_bytes && *memory.host_bytes >= usable)
    fail(Exit::does_not_fit,
         "{}: {} is not less than the memory that device and host share here ({} free). Lower it, or set {} "
         "as well",
         key::memory_host, format_bytes(*memory.host_bytes), format_bytes(usable), key::memory_budget);
  budgets.device = memory.budget_bytes ? *memory.budget_bytes
                                       : std::max<std::int64_t>(usable - shared_pool(memory, usable), 1);
  budgets.host = memory.host_bytes.value_or(std::max<std::int64_t>(usable - budgets.device, 0));
  budgets.disk = memory.disk_bytes;
  return budgets;
}

namespace {

// Assumed host memory for a device that is not in this machine.
constexpr std::int64_t assumed_host_bytes = std::int64_t{256} << 30;

// tf32 is stored as f32.
net::ElementType element_type(Precision precision) {
  return precision == Precision::tf32 ? net::ElementType::f32
                                      : net::parse_element_type(choice_name(precision));
}

// Precision on a device that is not in this machine.
net::ElementType precision_elsewhere(const swap::DeviceRates& device, Precision precision) {
  if (precision == Precision::automatic) return device.fastest;
  const net::ElementType type = element_type(precision);
  if (type == net::ElementType::bf16 && device.fastest == net::ElementType::f16)
    fail(Exit::usage, "{}: {} does not support bf16. Use f16, f32 or auto", key::training_precision,
         device.name);
  return type;
}

// Parses N of "cuda:N".
int device_number(const std::string& device) {
  const auto number = parse_number<int>(device.substr(5));
  if (!number)
    fail(Exit::usage, "{}: expected cuda:N with the number of a GPU, found '{}'", key::memory_device, device);
  return *number;
}

std::unique_ptr<net::Backend> open_gpu(const std::string& device, net::BackendOptions options) {
  if (device != "cuda") options.device = device_number(device);
  try {
    return net::make_backend("cuda", options);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    fail(Exit::does_not_fit,
         "{}: {}: no CUDA device: {}. `voxswap info` lists the devices; {}: cpu needs none",
         key::memory_device, device, error.what(), key::memory_device);
  }
}

// Warns if a GPU exists but cannot be used; a machine without GPU is normal.
std::unique_ptr<net::Backend> open_best(const net::BackendOptions& options) {
  if (net::device_count("cuda") == 0) return net::make_backend("onednn", options);
  try {
    return net::make_backend("cuda", options);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    log::warn("{}: auto: using the CPU, because the GPU cannot be used: {}", key::memory_device,
              error.what());
    return net::make_backend("onednn", options);
  }
}

// Rates for estimates of a device in this machine; for GPUs, those of the most similar known device.
const swap::DeviceRates& rates_of(const net::Backend& backend) {
  if (backend.computes_on_host()) return swap::find_device_rates("cpu");
  if (const swap::DeviceRates* device = swap::device_in(backend.description())) return *device;
  return swap::find_device_rates("a100");
}

}  // namespace

std::unique_ptr<net::Backend> open_device(const std::string& device, const net::BackendOptions& options) {
  if (device == "auto") return open_best(options);
  if (device == "cpu") return net::make_backend("onednn", options);
  if (device == "reference") return net::make_backend("reference", options);
  if (device == "cuda" || device.starts_with("cuda:")) return open_gpu(device, options);
  fail(Exit::usage, "{}: unknown device '{}'. There are auto, cpu, cuda, cuda:N, reference",
       key::memory_device, device);
}

net::BackendOptions backend_options(const TrainingOptions& training) {
  net::BackendOptions options;
  options.deterministic = training.deterministic;
  options.tensor_floats = training.precision == Precision::tf32;
  return options;
}

net::ElementType choose_precision(const net::Backend& backend, Precision precision) {
  if (precision == Precision::automatic) return backend.fastest_type();
  const net::ElementType type = element_type(precision);
  if (!backend.supports(type) || (precision == Precision::tf32 && backend.computes_on_host())) {
    fail(Exit::usage, "{}: {} does not support {} here ({})", key::training_precision, backend.name(),
         choice_name(precision), backend.description());
  }
  return type;
}

swap::Budgets choose_budgets(const net::Backend& backend, const MemoryOptions& memory, int sharers) {
  if (backend.computes_on_host())
    return budgets_in_one_memory(without_reserve(backend.free_bytes()) / sharers, memory);
  swap::Budgets budgets;
  budgets.device = memory.budget_bytes ? *memory.budget_bytes : without_reserve(backend.free_bytes());
  budgets.host = memory.host_bytes.value_or(without_reserve(backend.free_host_bytes()) / sharers);
  budgets.disk = memory.disk_bytes;
  return budgets;
}

namespace {

// Default GPU of a rank: GPUs of a machine are assigned to its ranks in turn. A launcher may also expose a
// single GPU to each rank.
int gpu_of_rank(const net::Ranks& ranks) {
  const int gpus = net::device_count("cuda");
  return gpus > 1 ? ranks.index_on_this_machine() % gpus : 0;
}

}  // namespace

std::string Target::description() const {
  return backend ? backend->description() : "simulated " + rates->name;
}

bool Target::has_own_memory() const {
  return backend ? !backend->computes_on_host() : rates->name != "cpu";
}

bool Target::sums_in_blocks(net::ElementType type) const {
  return backend ? backend->sums_in_blocks(type) : rates->sums_in_blocks;
}

std::int64_t Target::voxel_alignment() const {
  return backend ? backend->voxel_alignment() : rates->voxel_alignment;
}

Target open_target(const Experiment& experiment, const std::string& as, bool tuned, const net::Ranks& ranks) {
  Target target;
  if (as.empty()) {
    net::BackendOptions how = backend_options(experiment.training);
    how.tuned = tuned;
    how.device = gpu_of_rank(ranks);
    target.backend = open_device(experiment.memory.device, how);
    if (experiment.memory.planner == swap::unified_planner && target.backend->computes_on_host())
      fail(Exit::usage,
           "{}: unified needs a GPU, whose driver moves pages to the host, but the device here is the CPU. "
           "Choose {}",
           key::memory_planner, join(swap::planner_names(), ", "));
    target.rates = &rates_of(*target.backend);
    target.precision = choose_precision(*target.backend, experiment.training.precision);
    target.budgets = choose_budgets(*target.backend, experiment.memory, ranks.on_this_machine());
    return target;
  }
  const MemoryOptions& memory = experiment.memory;
  target.rates = &swap::find_device_rates(as);
  target.precision = precision_elsewhere(*target.rates, experiment.training.precision);
  target.budgets.device = memory.budget_bytes.value_or(target.rates->memory_bytes);
  target.budgets.host = memory.host_bytes.value_or(assumed_host_bytes);
  if (!memory.host_bytes)
    log::info("{} is not set: assuming that the host of a {} has {}", key::memory_host, target.rates->name,
              format_bytes(assumed_host_bytes));
  target.budgets.disk = memory.disk_bytes;
  return target;
}

std::int64_t memory_for_cases(const Target& target, const Experiment& experiment, std::int64_t device_bytes,
                              std::int64_t host_bytes, int sharers) {
  if (experiment.cases_bytes) return *experiment.cases_bytes / sharers;
  const std::int64_t least = least_memory_for_cases / sharers;
  if (!target.backend) return std::max(least, target.budgets.host - host_bytes);
  const std::int64_t planned = host_bytes + (target.backend->computes_on_host() ? device_bytes : 0);
  return std::max(least, without_reserve(target.backend->free_host_bytes()) / sharers - planned);
}

void leave_samples_free(Target& target, const Experiment& experiment, std::int64_t channels) {
  constexpr std::int64_t most = 8;  // a larger share is worth more to the plan
  if (!target.has_own_memory()) return;
  const std::int64_t bytes =
      sample_bytes({experiment.training.augment, input_size(experiment), channels, 1, target.precision},
                   experiment.training.batch_size);
  target.left_free = bytes <= target.budgets.device / most ? bytes : 0;
}

void leave_room(Target& target, const MemoryOptions& memory, std::int64_t bytes) {
  const bool shared = target.backend && target.backend->computes_on_host();
  std::int64_t& budget = shared ? target.budgets.device : target.budgets.host;
  if (shared ? memory.budget_bytes.has_value() : memory.host_bytes.has_value()) return;
  budget = std::max<std::int64_t>(budget - bytes, 1);
}

}  // namespace voxswap::pipeline
