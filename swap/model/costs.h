// Costs of a step's parts on a device: measured, or estimated from published rates for planning without it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::swap {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Costs that are off by more count as unknown: no bound follows from them, and they are measured again.
constexpr double much_noise = 0.2;

struct Link {
  double alone = 0;  // bytes per second while the device computes nothing
  double busy = 0;   // while it computes
};

struct CostModel {
  std::string source;                // for people: "measured on …", "estimated from published rates of …"
  std::vector<double> node_seconds;  // per node of the graph, with nothing else going on
  Link to_host, to_device;           // device <-> host pool
  Link to_disk, from_disk;           // host pool <-> scratch file; 0 without a disk tier
  double copy_seconds = 0;           // fixed cost of every copy
  double disk_seconds = 0;           // fixed cost of every disk access
  // Computation loses this many seconds for every byte that moves between device and host: copies take memory
  // bandwidth, and on a CPU a core.
  double interference = 0;
  // By how much other programs may have slowed the nodes while they were measured: 0.1 for 10 %.
  double noise = 0;
  bool is_noisy() const { return noise > much_noise; }
  double all_nodes() const;  // seconds
};

constexpr double least_kernel_speed = 0.05;  // part of its own, however much is copied meanwhile

// What bounds count for a copy: the most that the links reach, and the least that a byte on its way takes
// from what is computed. Kernels lose `interference` for it, at most all but `least_kernel_speed`; what is
// copied while no kernel runs delays none, but nothing is computed meanwhile either. With `delay` such that
// both links together delay by at most 1 - least_kernel_speed, any segment of time is at least what is
// computed in it and delay x the bytes copied in it.
struct CopyLimits {
  double out = 0, in = 0;  // bytes per second; 0: no link
  double delay = 0;        // seconds per byte
  bool linked() const { return out > 0 && in > 0; }
};
CopyLimits copy_limits(const CostModel& costs);

// A device described by rates, for estimates: FLOP/s that convolutions reach, bytes/s of its memory, its
// memory, its links.
struct DeviceRates {
  std::string name;     // v100, h200, …
  std::string details;  // for people: what the figures are and where they were published
  net::ElementType fastest =
      net::ElementType::bf16;            // what precision: auto means there; it runs no bf16 where it is f16
  double flops_f32 = 0, flops_half = 0;  // of convolutions, in FLOP/s: peak times `efficiency`
  double memory_rate = 0;                // bytes/s, read plus written
  double launch_seconds = 0;             // least time of a node
  std::int64_t memory_bytes = 0;
  double link_rate = 0;              // bytes/s in each direction
  std::int64_t voxel_alignment = 1;  // as its backend says (net/backends/backend.h)
  bool sums_in_blocks = true;        // the same
};
const std::vector<DeviceRates>& known_devices();
// By its name, or as it is written elsewhere: H100, "RTX 4090", 4090. Throws Exit::usage with the nearest
// name.
const DeviceRates& find_device_rates(const std::string& name);
// The device whose name stands in a description such as "NVIDIA H100 80GB HBM3"; null where none does.
const DeviceRates* device_in(const std::string& description);

// Every node at the slower of its arithmetic and its traffic.
CostModel estimate_costs(const net::Graph& graph, const DeviceRates& device);

std::string costs_json(const CostModel& costs);
CostModel parse_costs(const std::string& json);  // throws Exit::bad_data

// What exchanges between ranks that train together take (docs/explanation/ranks.md).
struct Network {
  int ranks = 1, machines = 1;  // as many ranks on each
  int slabs = 1;                // ranks that share each volume; `ranks` are then groups of them
  double rate = 0;              // bytes/s from a machine to the others, all its ranks together
  double local_rate = 0;        // between two ranks of a machine
  double message_seconds = 0;   // fixed cost of every message
};

constexpr double usual_message_seconds = 1e-5;  // through a library, between machines of one room

// What an exchange of so many bytes takes when all ranks, with a sample each, come to it at once: the swaps
// of net/steps/sum_by_halves.h one after the other, as far as the same ranks make them. A message takes its
// fixed cost and its bytes; both ways of a link are free at the same time.
double exchange_seconds(std::int64_t bytes, const Network& network);
// Of all exchanges of a graph.
void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs);

}  // namespace voxswap::swap
