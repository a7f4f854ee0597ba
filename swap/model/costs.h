// Costs of nodes and copies on a device: measured, or estimated from published rates to plan without the
// device.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::swap {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Costs with a larger error count as unknown: they give no lower bound, and are measured again.
constexpr double much_noise = 0.2;

struct Link {
  double alone = 0;  // bytes per second while the device computes nothing
  double busy = 0;   // while it computes
};

struct CostModel {
  std::string source;                // for people: "measured on …", "estimated from published rates of …"
  std::vector<double> node_seconds;  // per node of the graph, without copies at the same time
  Link to_host, to_device;           // device <-> host pool
  Link to_disk, from_disk;           // host pool <-> scratch file; 0 without a disk tier
  double copy_seconds = 0;           // fixed cost of every copy
  double disk_seconds = 0;           // fixed cost of every disk access
  // Seconds of compute time lost per byte copied between device and host: copies take memory bandwidth, and
  // on a CPU a core.
  double interference = 0;
  // How much other programs may have slowed the nodes during the measurement: 0.1 for 10 %.
  double noise = 0;
  bool is_noisy() const { return noise > much_noise; }
  double all_nodes() const;  // seconds
};

constexpr double least_kernel_speed = 0.05;  // relative speed of kernels at least, however much is copied

// The optimistic costs of a copy that lower bounds use: the highest rates of the links, and the least delay
// of kernels per byte copied. Kernels lose `interference` per byte, down to `least_kernel_speed`. Bytes
// copied while no kernel runs delay none, but then nothing is computed either. `delay` is chosen so that both
// links together delay by at most 1 - least_kernel_speed; any span of time is then at least its compute time
// plus delay x its bytes copied.
struct CopyLimits {
  double out = 0, in = 0;  // bytes per second; 0: no link
  double delay = 0;        // seconds per byte
  bool linked() const { return out > 0 && in > 0; }
};
CopyLimits copy_limits(const CostModel& costs);

// A device described by its rates, for estimates.
struct DeviceRates {
  std::string name;                                   // v100, h200, …
  std::string details;                                // for people: the figures and where they were published
  net::ElementType fastest = net::ElementType::bf16;  // precision `auto`; f16 on devices without bf16
  double flops_f32 = 0, flops_half = 0;               // of convolutions, in FLOP/s: peak times `efficiency`
  double memory_rate = 0;                             // bytes/s, read plus written
  double launch_seconds = 0;                          // least time of a node
  std::int64_t memory_bytes = 0;
  double link_rate = 0;              // bytes/s in each direction
  std::int64_t voxel_alignment = 1;  // as its backend says (net/backends/backend.h)
  bool sums_in_blocks = true;        // the same
};
const std::vector<DeviceRates>& known_devices();
// Finds a device by its name or a usual spelling: H100, "RTX 4090", 4090. Throws Exit::usage with the nearest
// name.
const DeviceRates& find_device_rates(const std::string& name);
// The device named in a description such as "NVIDIA H100 80GB HBM3"; null if none is.
const DeviceRates* device_in(const std::string& description);

// Estimates every node by the slower of its arithmetic and its memory traffic.
CostModel estimate_costs(const net::Graph& graph, const DeviceRates& device);

std::string costs_json(const CostModel& costs);
CostModel parse_costs(const std::string& json);  // throws Exit::bad_data

// Costs of exchanges between ranks that train together (docs/explanation/ranks.md).
struct Network {
  int ranks = 1, machines = 1;  // with the same number of ranks each
  int slabs = 1;                // ranks that share each volume; `ranks` then counts groups of them
  double rate = 0;              // bytes/s from a machine to the others, for all of its ranks together
  double local_rate = 0;        // between two ranks of a machine
  double message_seconds = 0;   // fixed cost of every message
};

constexpr double usual_message_seconds = 1e-5;  // through a library, between machines of one room

// Seconds of an all-reduce of so many bytes that all ranks, with a sample each, enter at once: the swaps of
// net/steps/batch_tree.h, one after the other where the same ranks take part. A message costs its fixed
// time and its bytes; links are full duplex.
double exchange_seconds(std::int64_t bytes, const Network& network);
// Sets the times of all exchanges of a graph.
void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs);

}  // namespace voxswap::swap
