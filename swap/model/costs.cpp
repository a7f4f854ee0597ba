// Devices by their published rates, estimates from them, and cost models as JSON.

#include "swap/model/costs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/send_receive.h"
#include "net/steps/batch_tree.h"

namespace voxswap::swap {

namespace {

// Efficiency of convolutions of 16 to 256 channels, relative to the peak. Such shapes keep vector units half
// busy. The tiles of tensor cores are wider than 16 channels, so much of them is unused in the layers of the
// highest resolution, which have most of the arithmetic. Assumed, not measured; `details` says so.
constexpr double efficiency_f32 = 0.5, efficiency_half = 0.3;

constexpr double tera = 1e12, giga = 1e9;
constexpr std::int64_t gib = std::int64_t{1} << 30;

constexpr std::int64_t gpu_voxel_alignment = 16;
constexpr double launch_seconds = 5e-6;       // of a kernel on a GPU, queued without waiting
constexpr double copy_seconds = 1e-5;         // of a copy: set up, and an event
constexpr double disk_rate = 2e9;             // one NVMe drive
constexpr double disk_access_seconds = 1e-4;  // of one access to it

DeviceRates gpu(const char* name, double peak_f32, double peak_half, const char* half, double memory_rate,
                std::int64_t memory_bytes, double link_rate, const char* link) {
  DeviceRates device;
  device.name = name;
  device.fastest = std::string_view(half).starts_with("f16") ? net::ElementType::f16 : net::ElementType::bf16;
  device.flops_f32 = efficiency_f32 * peak_f32;
  device.flops_half = efficiency_half * peak_half;
  device.memory_rate = memory_rate;
  device.launch_seconds = launch_seconds;
  device.memory_bytes = memory_bytes;
  device.link_rate = link_rate;
  device.voxel_alignment = gpu_voxel_alignment;
  device.sums_in_blocks = false;
  device.details = format(
      "published peaks: {:g} TFLOP/s in f32, {:g} in {}, memory {:g} GB/s; convolutions of few channels "
      "assumed at {:g} and {:g} of the peaks; {:g} GB/s each way over {}",
      peak_f32 / tera, peak_half / tera, half, memory_rate / giga, efficiency_f32, efficiency_half,
      link_rate / giga, link);
  return device;
}

constexpr const char* on_tensor_cores = "bf16 on tensor cores";

// Published rates, except the efficiency of convolutions and memory passes, which training steps of
// isensee2017 in bf16 reached (docs/results/training_speed.md#on-an-h100).
DeviceRates h100() {
  DeviceRates device =
      gpu("h100", 67 * tera, 989 * tera, on_tensor_cores, 3350 * giga, 80 * gib, 50 * giga, "PCIe Gen5");
  device.flops_half = 200 * tera;
  device.memory_rate = 2500 * giga;
  device.details = format(
      "measured in bf16: convolutions of few channels {:g} TFLOP/s, memory {:g} GB/s; in f32 {:g} times the "
      "published 67 TFLOP/s, assumed; {:g} GB/s each way over PCIe Gen5",
      device.flops_half / tera, device.memory_rate / giga, efficiency_f32, device.link_rate / giga);
  return device;
}

// The published case study trained 228 subjects of 144^3 in 197 s per epoch on a V100 in f32 without
// swapping; a step has three times the 503 GFLOP of the forward pass.
DeviceRates study_v100() {
  DeviceRates device;
  device.name = "v100-study";
  device.fastest = net::ElementType::f16;
  device.flops_f32 = 3 * 503e9 * 228 / 197;
  device.flops_half = device.flops_f32;
  device.memory_rate = 900 * giga;
  device.launch_seconds = launch_seconds;
  device.memory_bytes = 16 * gib;
  device.link_rate = 12 * giga;
  device.voxel_alignment = gpu_voxel_alignment;
  device.sums_in_blocks = false;
  device.details = format(
      "a V100 as in the published case study: 228 subjects of 144^3 in 197 s per epoch in f32 are {:.2f} "
      "TFLOP/s; memory 900 GB/s; half precision assumed as fast as f32; 12 GB/s each way over PCIe Gen3",
      device.flops_f32 / tera);
  return device;
}

DeviceRates cpu() {
  DeviceRates device;
  device.name = "cpu";
  device.fastest = net::ElementType::f32;  // few CPUs have bf16 instructions
  device.details =
      "an assumption for a few cores, not measured: 100 GFLOP/s in every precision, memory and copies as "
      "fast as one memory channel";
  device.flops_f32 = device.flops_half = 100 * giga;
  device.memory_rate = 10 * giga;
  device.launch_seconds = 5e-6;
  device.memory_bytes = 16 * gib;
  device.link_rate = 8 * giga;
  return device;
}

// Whether a node computes with 16 bits: on tensor cores if the GPU has them.
bool half(const net::Graph& graph, const net::Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs})
    for (const net::ValueId id : *values)
      if (net::element_bytes(graph.value(id).type) == 2) return true;
  return false;
}

// Normalises a name: lower case, without maker, product line, blanks and dashes. "NVIDIA GeForce RTX 4090"
// and rtx4090 are the same card.
std::string bare_name(const std::string& name) {
  std::string bare;
  for (const char c : lower(name))
    if (std::isalnum(static_cast<unsigned char>(c))) bare += c;
  for (const std::string_view word : {"nvidia", "geforce", "tesla", "quadro", "rtx"})
    if (const std::size_t at = bare.find(word); at != bare.npos) bare.erase(at, word.size());
  return bare;
}

double quantity(const Json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!std::isfinite(value) || value < 0)
    fail(Exit::bad_data, "cost model: '{}' is {}. Expected a number that is not negative", key, value);
  return value;
}

Json to_json(const Link& link) {
  return {{"alone", link.alone}, {"busy", link.busy}};
}

Link link_of(const Json& object, const char* key) {
  const Json& link = object.at(key);
  return {quantity(link, "alone"), quantity(link, "busy")};
}

}  // namespace

const std::vector<DeviceRates>& known_devices() {
  // Sources: NVIDIA's data sheets (SXM modules where they exist); for the RTX 3090 and A6000 "NVIDIA Ampere
  // GA102 GPU Architecture" 2.0, appendices A and C; for the RTX 4090 and 5090 "NVIDIA Ada GPU Architecture"
  // and "NVIDIA RTX Blackwell GPU Architecture". Tensor rates are for dense matrices with f32 sums, half the
  // rate of f16 sums on GeForce cards. Link rates are those that copies reach on PCIe x16 (16, 32 and 64
  // GB/s).
  static const std::vector<DeviceRates> devices = {
      gpu("v100", 15.7 * tera, 125 * tera, "f16 on tensor cores (no bf16)", 900 * giga, 16 * gib, 12 * giga,
          "PCIe Gen3"),
      gpu("a100", 19.5 * tera, 312 * tera, on_tensor_cores, 2039 * giga, 80 * gib, 24 * giga, "PCIe Gen4"),
      h100(),
      gpu("h200", 67 * tera, 989 * tera, on_tensor_cores, 4800 * giga, 141'000'000'000, 50 * giga,
          "PCIe Gen5"),
      gpu("rtx3090", 35.6 * tera, 71 * tera, on_tensor_cores, 936 * giga, 24 * gib, 24 * giga, "PCIe Gen4"),
      gpu("rtx4090", 82.6 * tera, 165.2 * tera, on_tensor_cores, 1008 * giga, 24 * gib, 24 * giga,
          "PCIe Gen4"),
      gpu("rtx5090", 104.8 * tera, 209.5 * tera, on_tensor_cores, 1792 * giga, 32 * gib, 50 * giga,
          "PCIe Gen5"),
      gpu("a6000", 38.7 * tera, 154.8 * tera, on_tensor_cores, 768 * giga, 48 * gib, 24 * giga, "PCIe Gen4"),
      gpu("l40s", 91.6 * tera, 362.05 * tera, on_tensor_cores, 864 * giga, 48 * gib, 24 * giga, "PCIe Gen4"),
      study_v100(),
      cpu(),
  };
  return devices;
}

const DeviceRates* device_in(const std::string& description) {
  for (const DeviceRates& device : known_devices())
    if (bare_name(description).find(bare_name(device.name)) != std::string::npos) return &device;
  return nullptr;
}

const DeviceRates& find_device_rates(const std::string& name) {
  std::vector<std::string> names;
  for (const DeviceRates& device : known_devices()) {
    if (bare_name(device.name) == bare_name(name)) return device;
    names.push_back(device.name);
  }
  const std::string near = nearest(lower(name), names);
  fail(Exit::usage, "no rates are known for a device '{}'. There are {}{}", name, join(names, ", "),
       near.empty() ? "" : format(". Did you mean '{}'?", near));
}

double CostModel::all_nodes() const {
  return std::accumulate(node_seconds.begin(), node_seconds.end(), 0.0);
}

CopyLimits copy_limits(const CostModel& costs) {
  CopyLimits limits;
  limits.out = std::max(costs.to_host.alone, costs.to_host.busy);
  limits.in = std::max(costs.to_device.alone, costs.to_device.busy);
  if (limits.linked())
    limits.delay = std::min(costs.interference, (1 - least_kernel_speed) / (limits.out + limits.in));
  return limits;
}

CostModel estimate_costs(const net::Graph& graph, const DeviceRates& device) {
  CostModel costs;
  costs.source = format("estimated for {}: {}", device.name, device.details);
  double total = 0, traffic = 0;
  for (const net::Node& node : graph.nodes()) {
    const double rate = half(graph, node) ? device.flops_half : device.flops_f32;
    const double memory = static_cast<double>(net::node_bytes(graph, node)) / device.memory_rate;
    costs.node_seconds.push_back(std::max(net::node_flops(graph, node) / rate, memory) +
                                 device.launch_seconds);
    total += costs.node_seconds.back();
    traffic += memory;
  }
  costs.to_host = costs.to_device = {device.link_rate, device.link_rate};
  costs.to_disk = costs.from_disk = {disk_rate, disk_rate};
  costs.copy_seconds = copy_seconds;
  costs.disk_seconds = disk_access_seconds;
  // A byte copied occupies the device's memory for 1 / memory_rate, which delays kernels while they are
  // limited by memory.
  if (total > 0) costs.interference = traffic / total / device.memory_rate;
  return costs;
}

std::string costs_json(const CostModel& costs) {
  const Json root = {{"source", costs.source},
                     {"to_host", to_json(costs.to_host)},
                     {"to_device", to_json(costs.to_device)},
                     {"to_disk", to_json(costs.to_disk)},
                     {"from_disk", to_json(costs.from_disk)},
                     {"copy_seconds", costs.copy_seconds},
                     {"disk_seconds", costs.disk_seconds},
                     {"interference", costs.interference},
                     {"noise", costs.noise},
                     {"node_seconds", costs.node_seconds}};
  return root.dump(1) + "\n";
}

CostModel parse_costs(const std::string& json) {
  try {
    const Json root = checked_json(json);
    CostModel costs;
    costs.source = root.at("source").get<std::string>();
    costs.to_host = link_of(root, "to_host");
    costs.to_device = link_of(root, "to_device");
    costs.to_disk = link_of(root, "to_disk");
    costs.from_disk = link_of(root, "from_disk");
    costs.copy_seconds = quantity(root, "copy_seconds");
    costs.disk_seconds = quantity(root, "disk_seconds");
    costs.interference = quantity(root, "interference");
    costs.noise = quantity(root, "noise");
    costs.node_seconds = root.at("node_seconds").get<std::vector<double>>();
    for (const double seconds : costs.node_seconds)
      if (!std::isfinite(seconds) || seconds < 0)
        fail(Exit::bad_data, "cost model: a node takes {} seconds. Expected a number that is not negative",
             seconds);
    return costs;
  } catch (const Json::exception& error) {
    fail(Exit::bad_data, "cost model: not in the format of a cost model: {}", error.what());
  }
}

namespace {

constexpr std::int64_t element_bytes = sizeof(float);

// The end of all swaps of one chunk on all ranks. A swap starts when both of its ranks are ready.
class Clocks {
 public:
  explicit Clocks(const Network& network)
      : network_(network), on_each_(network.ranks / network.machines), now_(index(network.ranks), 0) {}

  double after(const net::SumByHalves& sum) {
    for (const net::Swap& swap : sum.swaps) make(swap);
    for (auto swap = sum.swaps.rbegin(); swap != sum.swaps.rend(); ++swap) make(*swap);
    return *std::max_element(now_.begin(), now_.end());
  }

 private:
  // The ranks of a machine share its network link.
  void make(const net::Swap& swap) {
    if (swap.is_local()) return;
    const bool outside = swap.left.rank / on_each_ != swap.right.rank / on_each_;
    const double rate = outside ? network_.rate / on_each_ : network_.local_rate;
    const std::int64_t most = std::max(swap.middle - swap.begin, swap.end - swap.middle) * element_bytes;
    double &left = now_[index(swap.left.rank)], &right = now_[index(swap.right.rank)];
    left = right =
        std::max(left, right) + network_.message_seconds + (most > 0 ? static_cast<double>(most) / rate : 0);
  }

  static std::size_t index(std::int64_t rank) { return static_cast<std::size_t>(rank); }

  const Network& network_;
  int on_each_;  // ranks on a machine
  std::vector<double> now_;
};

}  // namespace

double exchange_seconds(std::int64_t bytes, const Network& network) {
  if (network.ranks == 1) return 0;
  const auto seconds = [&](std::int64_t length) {
    return length == 0 ? 0 : Clocks(network).after(net::sum_by_halves(network.ranks, network.ranks, length));
  };
  const std::int64_t chunk = net::exchange_chunk_bytes(network.ranks);
  return static_cast<double>(bytes / chunk) * (bytes < chunk ? 0 : seconds(chunk / element_bytes)) +
         seconds(bytes % chunk / element_bytes);
}

namespace {

// In each direction. Neighbours are on one machine if it has several ranks.
double send_receive_seconds(std::int64_t bytes, const Network& network) {
  const double rate = network.machines < network.ranks * network.slabs ? network.local_rate : network.rate;
  return network.message_seconds + static_cast<double>(bytes) / rate;
}

}  // namespace

void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const net::Node& node = graph.nodes()[i];
    if (!net::is_exchange(node)) continue;
    std::int64_t bytes = 0;
    for (const net::ValueId value : node.outputs) bytes += graph.value(value).bytes();
    if (node.operation == &net::send_receive_operation())
      costs.node_seconds[i] = send_receive_seconds(std::max(bytes, net::sent_bytes(graph, node)), network);
    else
      costs.node_seconds[i] = exchange_seconds(bytes, network);
  }
}

}  // namespace voxswap::swap
