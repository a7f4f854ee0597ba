#include <algorithm>

#include "base/shape.h"
#include "swap/plan/arena.h"
#include "swap/plan/places.h"
#include "swap/verify/checks.h"

namespace voxswap::swap {
namespace {

std::string name(const net::Graph& graph, const Residency& r) {
  if (r.value == net::none) return format("the workspace of '{}'", graph.node(r.node).name);
  return format("'{}'", graph.value(r.value).name);
}

class PlaceChecker {
 public:
  PlaceChecker(const net::Graph& graph, const Plan& plan, Violations& violations)
      : graph_(graph), plan_(plan), violations_(violations), places_(graph, plan) {}

  void run() {
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id) check_one_at_a_time(places_.all(id));
    check_persistent();
    check_overlaps_and_sums();
  }

 private:
  std::int32_t end() const { return static_cast<std::int32_t>(plan_.instructions.size()); }
  std::string what(const Residency& r) const {
    return format("{} (instructions {} to {})", name(graph_, r), r.first, r.last);
  }

  void check_one_at_a_time(const std::vector<const Residency*>& places) {
    for (std::size_t i = 1; i < places.size(); ++i)
      if (places[i]->first <= places[i - 1]->last)
        violations_.add("{} is at another offset at instruction {}", what(*places[i - 1]), places[i]->first);
  }

  // Executors that share an arena rely on these offsets.
  void check_persistent() {
    std::int64_t offset = 0;
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id) {
      const net::Value& value = graph_.value(id);
      if (!value.persistent()) continue;
      const auto& places = places_.all(id);
      if (places.size() != 1)
        violations_.add("persistent '{}' has {} allocations instead of one", value.name, places.size());
      for (const Residency* place : places) {
        if (place->offset != offset)
          violations_.add("persistent '{}' is at {} instead of {}", value.name, place->offset, offset);
        if (place->first != 0 || place->last != end() - 1)
          violations_.add("persistent '{}' is resident from instruction {} to {} instead of 0 to {}",
                          value.name, place->first, place->last, end() - 1);
      }
      offset += occupied(value.bytes());
    }
    if (plan_.persistent_bytes != offset)
      violations_.add("persistent values take {} bytes, the plan says {}", offset, plan_.persistent_bytes);
  }

  // Whether `later` overwrites `earlier` in place: `earlier` ends at the node that computes `later` from it.
  bool in_place(const Residency& earlier, const Residency& later) const {
    if (earlier.value == net::none || later.value == net::none || earlier.last != later.first) return false;
    if (earlier.offset != later.offset || earlier.bytes < later.bytes) return false;
    const Instruction& instruction = plan_.instructions[index(later.first)];
    if (instruction.kind != Instruction::Kind::run) return false;
    return may_take_over(graph_, graph_.node(instruction.node), later.value, earlier.value);
  }

  void check_overlaps_and_sums() {
    std::vector<const Residency*> sorted, live;
    for (const Residency& r : plan_.residencies) sorted.push_back(&r);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Residency* a, const Residency* b) { return a->first < b->first; });
    std::vector<std::int64_t> change(index(end()) + 1, 0), twice(index(end()), 0);
    for (const Residency* r : sorted) {
      std::erase_if(live, [&](const Residency* other) { return other->last < r->first; });
      change[index(r->first)] += r->bytes;
      change[index(r->last) + 1] -= r->bytes;
      for (const Residency* other : live) {
        if (r->offset >= other->offset + other->bytes || other->offset >= r->offset + r->bytes) continue;
        if (in_place(*other, *r) || in_place(*r, *other))
          twice[index(r->first)] += std::min(r->bytes, other->bytes);
        else
          violations_.add("{} and {} overlap in memory at instruction {}", what(*other), what(*r), r->first);
      }
      live.push_back(r);
    }
    check_sums(change, twice);
  }

  // The sum of live bytes; memory overwritten in place counts once.
  void check_sums(const std::vector<std::int64_t>& change, const std::vector<std::int64_t>& twice) {
    std::vector<std::int64_t> sums(twice.size());
    std::int64_t live = 0, peak = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      live += change[i];
      sums[i] = live - twice[i];
      peak = std::max(peak, sums[i]);
    }
    if (sums != plan_.live_bytes)
      violations_.add("the live bytes per instruction are not the sums of the allocations");
    if (peak != plan_.live_peak_bytes)
      violations_.add("the largest live sum is {}, the plan says {}", peak, plan_.live_peak_bytes);
  }

  const net::Graph& graph_;
  const Plan& plan_;
  Violations& violations_;
  const Places places_;
};

}  // namespace

bool check_place_ranges(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                        const Plan& plan, Violations& violations) {
  const auto end = static_cast<std::int32_t>(plan.instructions.size());
  bool good = true;
  const auto bad = [&]<class... Arguments>(fmt::format_string<Arguments...> pattern,
                                           Arguments&&... arguments) {
    violations.add(pattern, std::forward<Arguments>(arguments)...);
    good = false;
  };
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& r = plan.residencies[i];
    const bool known = r.value == net::none ? r.node >= 0 && index(r.node) < graph.nodes().size()
                                            : r.value >= 0 && index(r.value) < graph.values().size();
    if (!known) {
      bad("residency {} refers to value {} and node {}, which do not exist", i, r.value, r.node);
      continue;
    }
    const std::int64_t needed =
        r.value == net::none ? workspaces[index(r.node)] : graph.value(r.value).bytes();
    if (r.bytes < needed)
      bad("residency {} of {} has {} bytes and needs {}", i, name(graph, r), r.bytes, needed);
    if (r.first < 0 || r.last < r.first || r.last >= end)
      bad("residency {} spans instructions {} to {} of {}", i, r.first, r.last, end);
    if (r.offset % place_alignment != 0)
      bad("residency {} is at {}, not a multiple of {}", i, r.offset, place_alignment);
    if (r.offset < 0 || r.bytes <= 0 || r.bytes > plan.peak_bytes - r.offset)
      bad("residency {} ({} bytes at {}) is outside the arena of {}", i, r.bytes, r.offset, plan.peak_bytes);
  }
  return good;
}

void check_places(const net::Graph& graph, const Plan& plan, Violations& violations) {
  PlaceChecker(graph, plan, violations).run();
}

}  // namespace voxswap::swap
