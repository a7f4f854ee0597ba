// A linear program and its Lagrangian dual. Borders (volume_pass.cpp) divide the step into segments. The time
// T_s of a segment is at least its compute time plus d x its bytes copied (d: the delay of copy_limits in
// costs.h), the time of its copies out, and the time of its copies in. In every segment between its first and
// last use, a byte
//   stays resident  and takes memory at every moment of the segment,
//   is evicted      after a copy out, which happens once in the step, or
//   returns         by a copy in, or by a recomputation,
// and takes memory at the border if it is resident then. At moments and borders, the resident bytes and the
// working set fit beside the persistent values.
//
// Proof that no plan is shorter. Take a plan and consider each byte of each value separately; fractions of a
// value are bytes treated differently. The state of a byte at the borders and the actions of the plan in
// between are one of the transitions above, and the plan does at least the work counted for it: a byte
// evicted at a border was copied out in an earlier segment and is copied in in a later one; a byte without a
// copy is recomputed between the two uses. A recomputation produces all outputs of its node and counts for
// each in proportion, so no more than its time is counted. Nodes do not run across a border, because borders
// are between nodes. Inputs of recomputations, values resident after their last use, latencies and the limit
// of host memory are ignored: a real plan needs more. So the plan is a feasible point of the program, and the
// minimum of the program is at most its time.
//
// Inputs have a copy in host memory when the step begins, and kept values need not return. Exchanges run
// concurrently with later nodes; their operands count only in the working sets of other nodes. If an output
// may overwrite an input that is used later, the working set counts both once; bytes of such an input that
// stay resident count in addition, because they were not overwritten.
//
// The dual has weights of the three lanes of each segment, which add up to 1, and a price per resident byte
// at each moment and border. For ANY such numbers, the minimum of
//   sum over lanes (weight x time) + sum over moments (price x (resident bytes - room))
// over all transitions is a lower bound, because for a feasible point the second sum is not positive and the
// first is at most T. The minimum is found for every value independently, by dynamic programming over its
// segments. Subgradient steps improve the multipliers; they determine how tight the bound is, never whether
// it holds.
#include "swap/model/relaxation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/interrupt.h"
#include "base/shape.h"
#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

// Where the copies of a byte are at a border.
enum State : std::uint8_t { on_device, on_both, on_host, freed };
constexpr std::size_t states = 4;

// The transition of a byte through one part.
struct Transition {
  State before = on_device;
  bool stays = false, out = false, in = false, recompute = false;
};

enum Work : std::uint8_t { computing, copying_out, copying_in };
using PerLane = std::array<double, 3>;

// A point of the dual, or a direction in it, in seconds.
struct Point {
  std::vector<PerLane> lanes;            // per segment
  std::vector<double> borders, moments;  // prices, in seconds for the bytes copied in one second

  explicit Point(const Pass& pass)
      : lanes(pass.compute.size(), PerLane{}),
        borders(pass.borders.size(), 0),
        moments(pass.moments.size(), 0) {}
};

class Dual {
 public:
  Dual(const Pass& pass, const Needs& needs, const CostModel& costs, const Budgets& budgets)
      : pass_(pass), link_(copy_limits(costs)), transitions_(pass.parts.size()) {
    movable_ = budgets.host > 0 && link_.linked();
    unit_ = link_.linked() ? 1 / std::min(link_.out, link_.in) : 1e-9;
    const auto room = static_cast<double>(occupied(budgets.device) - needs.persistent);
    const auto beyond = [&](std::size_t node) {
      return static_cast<double>(needs.working[node].least_bytes) - room;
    };
    for (const Border& border : pass.borders) border_needs_.push_back(beyond(index(border.node)));
    for (const std::size_t node : pass.moments) moment_needs_.push_back(beyond(node));
    count_moments();
  }

  // The bound at a point, and its supergradient.
  double at(const Point& point, Point& slope) {
    price(point);
    for (std::size_t s = 0; s < slope.lanes.size(); ++s) slope.lanes[s] = {pass_.compute[s], 0, 0};
    slope.borders = border_needs_;
    change_.assign(pass_.moments.size() + 1, 0);
    double seconds = 0;
    for (const ValueLifetime& lifetime : pass_.lifetimes) seconds += cheapest(lifetime, point, slope);
    double there = 0;
    for (std::size_t i = 0; i < slope.moments.size(); ++i) {
      there += change_[i];
      slope.moments[i] = (there + moment_needs_[i]) * unit_;
      seconds += point.moments[i] * unit_ * moment_needs_[i];
    }
    for (std::size_t i = 0; i < slope.borders.size(); ++i) {
      seconds += point.borders[i] * unit_ * border_needs_[i];
      slope.borders[i] *= unit_;
    }
    for (std::size_t s = 0; s < point.lanes.size(); ++s)
      seconds += point.lanes[s][computing] * pass_.compute[s];
    return seconds;
  }

 private:
  // The moments in every part.
  void count_moments() {
    const auto before = [&](std::size_t node) {
      const auto found = std::lower_bound(pass_.moments.begin(), pass_.moments.end(), node);
      return static_cast<std::size_t>(found - pass_.moments.begin());
    };
    for (const Part& part : pass_.parts) moments_.emplace_back(before(part.from), before(part.to));
  }

  void price(const Point& point) {
    up_to_.assign(1, 0);
    for (const double moment : point.moments) up_to_.push_back(up_to_.back() + moment * unit_);
    out_.clear(), in_.clear();
    for (const PerLane& lane : point.lanes) {
      out_.push_back(link_.linked() ? lane[copying_out] / link_.out + lane[computing] * link_.delay
                                    : infinity);
      in_.push_back(link_.linked() ? lane[copying_in] / link_.in + lane[computing] * link_.delay : infinity);
    }
  }

  // Adds the cheapest transitions of a value to `slope`.
  double cheapest(const ValueLifetime& lifetime, const Point& point, Point& slope) {
    PerState cost = {0, infinity, infinity, infinity};
    if (lifetime.read) cost = {infinity, 0, 0, infinity};
    for (std::size_t part = lifetime.from; part < lifetime.to; ++part) advance(lifetime, part, point, cost);
    State end = cost[on_device] <= cost[on_both] ? on_device : on_both;
    if (cost[on_host] < cost[end]) end = on_host;
    follow(lifetime, end, slope);
    return lifetime.bytes * cost[end];
  }

  using PerState = std::array<double, states>;
  void advance(const ValueLifetime& lifetime, std::size_t id, const Point& point, PerState& cost) {
    const Part& part = pass_.parts[id];
    const std::size_t s = part.segment;
    const double stay = up_to_[moments_[id].second] - up_to_[moments_[id].first];
    const double weight = point.lanes[s][computing];
    const double recompute =
        lifetime.recompute_per_byte == infinity ? infinity : weight * lifetime.recompute_per_byte;
    const double out = movable_ || lifetime.given ? out_[s] : infinity,
                 in = movable_ || lifetime.read || lifetime.given ? in_[s] : infinity,
                 returning = std::min(in, recompute);
    const bool copied = in <= recompute;
    PerState next = {infinity, infinity, infinity, infinity};
    const auto add = [&](State from, State to, double price, Transition transition) {
      if (!(cost[from] + price < next[to])) return;
      next[to] = cost[from] + price;
      transition.before = from;
      transitions_[id][to] = transition;
    };
    add(on_device, on_device, stay, {.stays = true});
    add(on_device, on_device, recompute, {.recompute = true});
    add(on_device, on_both, stay + out, {.stays = true, .out = true});
    add(on_device, on_both, returning + out, {.out = true, .in = copied, .recompute = !copied});
    add(on_both, on_both, stay, {.stays = true});
    add(on_both, on_both, returning, {.in = copied, .recompute = !copied});
    add(on_host, on_both, returning, {.in = copied, .recompute = !copied});
    add(freed, on_device, recompute, {.recompute = true});
    add(freed, on_both, recompute + out, {.out = true, .recompute = true});
    if (part.border != net::none) {
      const double there = part.counts_there ? point.borders[index(part.border)] * unit_ : 0;
      next[on_device] += there;
      next[on_both] += there;
      add(on_device, freed, 0, {});
      add(freed, freed, 0, {});
    }
    if (part.border != net::none || part.ends_step) {
      add(on_device, on_host, out, {.out = true});
      add(on_both, on_host, 0, {});
      add(on_host, on_host, 0, {});
      add(freed, on_host, recompute + out, {.out = true, .recompute = true});
    }
    cost = next;
  }

  void follow(const ValueLifetime& lifetime, State end, Point& slope) {
    State state = end;
    for (std::size_t id = lifetime.to; id-- > lifetime.from;) {
      const Part& part = pass_.parts[id];
      const Transition& transition = transitions_[id][state];
      PerLane& lane = slope.lanes[part.segment];
      if (part.counts_there && part.border != net::none && (state == on_device || state == on_both))
        slope.borders[index(part.border)] += lifetime.bytes;
      if (transition.stays) {
        change_[moments_[id].first] += lifetime.bytes;
        change_[moments_[id].second] -= lifetime.bytes;
      }
      if (transition.out) lane[copying_out] += lifetime.bytes / link_.out;
      if (transition.in) lane[copying_in] += lifetime.bytes / link_.in;
      if (transition.out) lane[computing] += lifetime.bytes * link_.delay;
      if (transition.in) lane[computing] += lifetime.bytes * link_.delay;
      if (transition.recompute) lane[computing] += lifetime.bytes * lifetime.recompute_per_byte;
      state = transition.before;
    }
  }

  const Pass& pass_;
  const CopyLimits link_;
  double unit_ = 0;
  bool movable_ = false;  // there are links, and a pool large enough for all values
  std::vector<double> border_needs_, moment_needs_;           // bytes beyond the room
  std::vector<std::pair<std::size_t, std::size_t>> moments_;  // per part, [from, to)
  std::vector<std::array<Transition, states>> transitions_;   // per part and final state
  std::vector<double> up_to_, out_, in_;                      // prices of the last point
  std::vector<double> change_;                                // per moment: change of resident bytes
};

// Projects onto the simplex: numbers that are not negative and add up to 1.
void bring_back(PerLane& lane) {
  PerLane sorted = lane;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double even = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > even) shift = even;
  }
  for (double& part : lane) part = std::max(0.0, part - shift);
}

// Calls of(a, b, limited) for every coordinate of two points; limited: it may not be negative.
template <class Of>
void for_each_coordinate(Point& a, Point& b, Of of) {
  for (std::size_t s = 0; s < a.lanes.size(); ++s)
    for (std::size_t i = 0; i < a.lanes[s].size(); ++i) of(a.lanes[s][i], b.lanes[s][i], false);
  for (std::size_t i = 0; i < a.borders.size(); ++i) of(a.borders[i], b.borders[i], true);
  for (std::size_t i = 0; i < a.moments.size(); ++i) of(a.moments[i], b.moments[i], true);
}

// Subgradient steps of Polyak's length (1969) towards a level slightly above the best bound, with momentum.
// Without progress it restarts from the best point with a nearer level.
double climb(Dual& dual, const Pass& pass, std::int64_t rounds) {
  constexpr double memory = 0.8, nearer = 0.7, nearest = 1e-4, shortest_success = 2e-3;
  constexpr int patience = 60;
  Point now(pass), slope(pass);
  for (PerLane& lane : now.lanes) lane = {1, 0, 0};
  Point best = now, direction = slope;
  double most = dual.at(now, slope), here_now = most, level = 0.05;
  int failures = 0;
  for (std::int64_t round = 0; round < rounds && level > nearest; ++round) {
    throw_if_interrupted();
    double square = 0;
    for (PerLane& lane : slope.lanes) {
      const double mean = std::accumulate(lane.begin(), lane.end(), 0.0) / 3;
      for (double& part : lane) part -= mean;
    }
    for_each_coordinate(direction, slope,
                        [](double& w, double& s, bool) { w = memory * w + (1 - memory) * s; });
    for_each_coordinate(now, direction, [&](double& x, double& w, bool limited) {
      if (!limited || x > 0 || w > 0) square += w * w;
    });
    if (square <= 0) break;
    const double step = std::min((1 + level) * most - here_now, 3 * level * most) / square;
    for_each_coordinate(now, direction, [&](double& x, double& w, bool limited) {
      x += step * w;
      if (limited) x = std::max(0.0, x);
    });
    for (PerLane& lane : now.lanes) bring_back(lane);
    here_now = dual.at(now, slope);
    failures = here_now > most * (1 + shortest_success * level) ? 0 : failures + 1;
    if (here_now > most) most = here_now, best = now;
    if (failures <= patience) continue;
    failures = 0;
    level *= nearer;
    now = best;
    direction = Point(pass);
    here_now = dual.at(now, slope);
  }
  return most;
}

}  // namespace

double relaxed_seconds(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
                       const CostModel& costs, const Budgets& budgets, net::NodeId cut) {
  const double room = static_cast<double>(occupied(budgets.device) - needs.persistent);
  const Pass pass = find_pass(graph, needs, node_seconds, room, cut);
  if (pass.moments.empty())  // everything fits
    return std::accumulate(node_seconds.begin(), node_seconds.end(), 0.0);
  constexpr std::int64_t parts_visited = 40'000'000;  // in total
  Dual dual(pass, needs, costs, budgets);
  const auto per_round = static_cast<std::int64_t>(pass.parts.size()) + 1;
  return climb(dual, pass, std::min<std::int64_t>(20'000, parts_visited / per_round));
}

}  // namespace voxswap::swap
