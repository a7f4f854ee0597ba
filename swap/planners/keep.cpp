// Nothing leaves. Instructions are the graph's nodes in their order; persistent values lie at the bottom in
// order of id, so that executors of different graphs find them at the same offsets; everything else is packed
// above them. Values written in place form one interval with the value they are written over.
#include <algorithm>

#include "swap/arena.h"
#include "swap/lifetimes.h"
#include "swap/planners/planners.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

// Residencies of all values, offsets still open except for persistent ones. Sets persistent_bytes and the
// live sums, in which a place that is shared counts once.
void add_values(const PlanRequest& request, const std::vector<Lifetime>& all, Plan& plan) {
  for (const Lifetime& lifetime : all) {
    Residency place{lifetime.value, none, 0, occupied(lifetime.bytes), lifetime.first, lifetime.last};
    if (request.graph->value(lifetime.value).persistent()) {
      place.offset = plan.persistent_bytes;
      plan.persistent_bytes += place.bytes;
    }
    plan.residencies.push_back(place);
    for (std::int32_t i = place.first; i <= place.last; ++i) plan.live_bytes[index(i)] += place.bytes;
    if (lifetime.shares != none) plan.live_bytes[index(place.first)] -= place.bytes;
  }
}

void add_workspaces(const PlanRequest& request, Plan& plan) {
  for (std::size_t node = 0; node < request.workspaces.size(); ++node) {
    if (request.workspaces[node] <= 0) continue;
    const auto at = static_cast<std::int32_t>(node);
    plan.residencies.push_back({none, at, 0, occupied(request.workspaces[node]), at, at});
    plan.live_bytes[node] += plan.residencies.back().bytes;
  }
}

// Packs what is not persistent. `all` are the lifetimes behind the first residencies of the plan.
void place(const PlanRequest& request, const std::vector<Lifetime>& all, Plan& plan) {
  // The interval that a residency belongs to; -1 for persistent values. A value comes after what it shares
  // with in time, not always in id, so owners are followed down the chain.
  std::vector<ValueId> shares(request.graph->values().size(), none);
  for (const Lifetime& lifetime : all) shares[index(lifetime.value)] = lifetime.shares;
  std::vector<int> interval_of_value(shares.size(), -1), interval(plan.residencies.size(), -1);
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& r = plan.residencies[i];
    if (r.value != none && request.graph->value(r.value).persistent()) continue;
    ValueId owner = r.value;
    while (owner != none && shares[index(owner)] != none) owner = shares[index(owner)];
    if (owner != none && interval_of_value[index(owner)] >= 0) {
      interval[i] = interval_of_value[index(owner)];
      Interval& joined = intervals[index(interval[i])];
      joined.bytes = std::max(joined.bytes, r.bytes);
      joined.first = std::min(joined.first, r.first);
      joined.last = std::max(joined.last, r.last);
      continue;
    }
    interval[i] = static_cast<int>(intervals.size());
    if (owner != none) interval_of_value[index(owner)] = interval[i];
    intervals.push_back({r.bytes, r.first, r.last, 0});
  }
  plan.peak_bytes = plan.persistent_bytes + pack(intervals);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i)
    if (interval[i] >= 0)
      plan.residencies[i].offset = plan.persistent_bytes + intervals[index(interval[i])].offset;
}

}  // namespace

Plan plan_keep(const PlanRequest& request) {
  Plan plan;
  plan.planner = "keep";
  plan.budget_bytes = request.budgets.device;
  for (const ValueId value : request.kept)
    if (value != none) plan.kept.push_back(value);
  for (NodeId node = 0; index(node) < request.graph->nodes().size(); ++node) {
    plan.instructions.emplace_back();
    plan.instructions.back().node = node;
  }
  plan.live_bytes.assign(plan.instructions.size(), 0);

  const std::vector<Lifetime> all = lifetimes(*request.graph, plan.kept);
  add_values(request, all, plan);
  add_workspaces(request, plan);
  place(request, all, plan);
  if (!plan.live_bytes.empty())
    plan.live_peak_bytes = *std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
  return plan;
}

}  // namespace voxswap
