#include "pipeline/plan/step_memory.h"

#include <set>

#include "swap/model/simulator.h"
#include "swap/plan/occupancy.h"

namespace voxswap::pipeline {

namespace {

// A memory read forward in time.
class Reader {
 public:
  explicit Reader(const std::vector<swap::BytesFrom>& levels) : levels_(levels) {}
  std::int64_t at(double seconds) {
    while (next_ < levels_.size() && levels_[next_].seconds <= seconds) bytes_ = levels_[next_++].bytes;
    return bytes_;
  }

 private:
  const std::vector<swap::BytesFrom>& levels_;
  std::size_t next_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::vector<MemoryRow> step_memory(const net::Graph& graph, const swap::Plan& plan,
                                   const swap::CostModel& costs, const std::string& run,
                                   const std::string& resolution, std::int64_t host_budget) {
  const swap::Simulation simulation = swap::simulate(plan, costs);
  const swap::Occupancy held = swap::occupancy(graph, plan, simulation.begin, simulation.end);
  std::set<double> times;
  for (const auto* levels : {&held.device, &held.host, &held.disk}) {
    for (const swap::BytesFrom& level : *levels) times.insert(level.seconds);
  }
  Reader device(held.device), host(held.host), disk(held.disk);
  std::vector<MemoryRow> rows;
  for (const double seconds : times)
    rows.push_back({run, resolution, plan.planner, seconds, device.at(seconds), host.at(seconds),
                    disk.at(seconds), plan.budget_bytes == swap::unlimited ? 0 : plan.budget_bytes,
                    host_budget});
  return rows;
}

}  // namespace voxswap::pipeline
