// A linear program and its dual. Borders (pass.cpp) divide the step into segments; the time T_s of each
// is at least that of its compute, of its copies out and of its copies in, every byte of which also delays
// computation. A byte of a value is on its way from its first use to its last, and in every segment of it
//   stays           and is in the way at every moment of the segment,
//   leaves          after it was copied out, at some time before; once for the whole step,
//   comes back      by a copy in, or because its node runs again,
// and is in the way at the border if it is there then. At moments and borders, what is in the way and the
// working set fit beside the persistent values.
//
// Why no plan is shorter. Take one and look at each byte of each value by itself; fractions of a value are
// bytes that went other ways. Where a byte is at a border and what was done with it in a segment is one of
// the transitions above, and the plan did for it at least what that one counts: a byte that is away at a
// border was copied out in an earlier segment and is copied in in a later one, a byte that has no copy comes
// back by a run of its node between the two uses. A run makes all outputs of its node and counts for each in
// proportion, so no run counts more than its time; runs do not last across a border, as both are on the
// compute stream. What making again reads, what is there after its last use, latencies, and that host memory
// is finite are left out: a plan needs more, not less. So the plan is a point of the program, and the least
// T of the program is no larger than its own.
//
// An input lies outside when the step begins, and what is kept may be left there. Exchanges run beside what
// follows them, at times of their own: what they read and make counts in the working sets of other nodes
// alone.
//
// An output may lie over an input that lives on. The working set counts one place for both then, and such an
// input's bytes that stay count besides: they were not written over.
//
// T_s >= compute + d x (bytes copied), d being the delay of copy_limits (costs.h).
//
// The dual: weights of the three lanes of each segment that add up to 1 (they divide T_s), and prices for a
// byte that is in the way, per moment and border. For ANY such numbers the least of
//   sum over lanes (weight x its time) + sum over moments (price x (what is in the way - room))
// over all ways is a bound, because within the program the second sum is not positive and the first is at
// most T. Every value finds its cheapest way by itself, one segment after the other. Better multipliers are
// looked for by subgradient steps; where they end decides how tight the bound is, never whether it holds.
#include "swap/model/relaxation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/shape.h"
#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

// Where a byte is at a border, and whether there is a copy of it outside.
enum State : std::uint8_t { here, here_and_outside, outside, nowhere };
constexpr std::size_t states = 4;

// A way through one part.
struct Move {
  State before = here;
  bool stays = false, out = false, in = false, again = false;
};

enum Work : std::uint8_t { computing, copying_out, copying_in };
using PerLane = std::array<double, 3>;

// A point of the dual, or a direction in it, or what it is worth to go there: seconds.
struct Point {
  std::vector<PerLane> lanes;            // per segment
  std::vector<double> borders, moments;  // prices, in seconds for what is copied in a second

  explicit Point(const Pass& pass)
      : lanes(pass.compute.size(), PerLane{}),
        borders(pass.borders.size(), 0),
        moments(pass.moments.size(), 0) {}
};

class Dual {
 public:
  Dual(const Pass& pass, const Needs& needs, const CostModel& costs, const Budgets& budgets)
      : pass_(pass), link_(copy_limits(costs)), moves_(pass.parts.size()) {
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

  // The bound at a point, and the direction in which it rises.
  double at(const Point& point, Point& slope) {
    price(point);
    for (std::size_t s = 0; s < slope.lanes.size(); ++s) slope.lanes[s] = {pass_.compute[s], 0, 0};
    slope.borders = border_needs_;
    there_.assign(pass_.moments.size() + 1, 0);
    double seconds = 0;
    for (const Way& way : pass_.ways) seconds += cheapest(way, point, slope);
    double there = 0;
    for (std::size_t i = 0; i < slope.moments.size(); ++i) {
      there += there_[i];
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
  // Of every part, the moments in it.
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

  // Notes in `slope` what the cheapest way of a value takes.
  double cheapest(const Way& way, const Point& point, Point& slope) {
    PerState cost = {0, infinity, infinity, infinity};
    if (way.read) cost = {infinity, 0, 0, infinity};
    for (std::size_t part = way.from; part < way.to; ++part) pass(way, part, point, cost);
    State end = cost[here] <= cost[here_and_outside] ? here : here_and_outside;
    if (cost[outside] < cost[end]) end = outside;
    follow(way, end, slope);
    return way.bytes * cost[end];
  }

  using PerState = std::array<double, states>;
  void pass(const Way& way, std::size_t id, const Point& point, PerState& cost) {
    const Part& part = pass_.parts[id];
    const std::size_t s = part.segment;
    const double stay = up_to_[moments_[id].second] - up_to_[moments_[id].first];
    const double weight = point.lanes[s][computing];
    const double again = way.again_per_byte == infinity ? infinity : weight * way.again_per_byte;
    const double out = movable_ || way.given ? out_[s] : infinity,
                 in = movable_ || way.read || way.given ? in_[s] : infinity, back = std::min(in, again);
    const bool copied = in <= again;
    PerState next = {infinity, infinity, infinity, infinity};
    const auto go = [&](State from, State to, double price, Move move) {
      if (!(cost[from] + price < next[to])) return;
      next[to] = cost[from] + price;
      move.before = from;
      moves_[id][to] = move;
    };
    go(here, here, stay, {.stays = true});
    go(here, here, again, {.again = true});
    go(here, here_and_outside, stay + out, {.stays = true, .out = true});
    go(here, here_and_outside, back + out, {.out = true, .in = copied, .again = !copied});
    go(here_and_outside, here_and_outside, stay, {.stays = true});
    go(here_and_outside, here_and_outside, back, {.in = copied, .again = !copied});
    go(outside, here_and_outside, back, {.in = copied, .again = !copied});
    go(nowhere, here, again, {.again = true});
    go(nowhere, here_and_outside, again + out, {.out = true, .again = true});
    if (part.border != net::none) {
      const double there = part.counts_there ? point.borders[index(part.border)] * unit_ : 0;
      next[here] += there;
      next[here_and_outside] += there;
      go(here, nowhere, 0, {});
      go(nowhere, nowhere, 0, {});
    }
    if (part.border != net::none || part.ends_step) {
      go(here, outside, out, {.out = true});
      go(here_and_outside, outside, 0, {});
      go(outside, outside, 0, {});
      go(nowhere, outside, again + out, {.out = true, .again = true});
    }
    cost = next;
  }

  void follow(const Way& way, State end, Point& slope) {
    State state = end;
    for (std::size_t id = way.to; id-- > way.from;) {
      const Part& part = pass_.parts[id];
      const Move& move = moves_[id][state];
      PerLane& lane = slope.lanes[part.segment];
      if (part.counts_there && part.border != net::none && (state == here || state == here_and_outside))
        slope.borders[index(part.border)] += way.bytes;
      if (move.stays) {
        there_[moments_[id].first] += way.bytes;
        there_[moments_[id].second] -= way.bytes;
      }
      if (move.out) lane[copying_out] += way.bytes / link_.out;
      if (move.in) lane[copying_in] += way.bytes / link_.in;
      if (move.out) lane[computing] += way.bytes * link_.delay;
      if (move.in) lane[computing] += way.bytes * link_.delay;
      if (move.again) lane[computing] += way.bytes * way.again_per_byte;
      state = move.before;
    }
  }

  const Pass& pass_;
  const CopyLimits link_;
  double unit_ = 0;
  bool movable_ = false;                                      // there are links, and a pool for all values
  std::vector<double> border_needs_, moment_needs_;           // beyond the room there is
  std::vector<std::pair<std::size_t, std::size_t>> moments_;  // per part, [from, to)
  std::vector<std::array<Move, states>> moves_;               // per part, by which state it ends in
  std::vector<double> up_to_, out_, in_;                      // prices of the last point
  std::vector<double> there_;                                 // per moment, what came or went
};

// The nearest point whose parts are not negative and add up to 1.
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

// Subgradient steps as long as Polyak's (1969) towards a level a little above the best found, in directions
// that remember the last ones; from the best point and to a nearer level where that comes to nothing.
double climb(Dual& dual, const Pass& pass, std::int64_t rounds) {
  constexpr double memory = 0.8, nearer = 0.7, nearest = 1e-4, shortest_success = 2e-3;
  constexpr int patience = 60;
  Point now(pass), slope(pass);
  for (PerLane& lane : now.lanes) lane = {1, 0, 0};
  Point best = now, way = slope;
  double most = dual.at(now, slope), here_now = most, level = 0.05;
  int failures = 0;
  for (std::int64_t round = 0; round < rounds && level > nearest; ++round) {
    double square = 0;
    for (PerLane& lane : slope.lanes) {
      const double mean = std::accumulate(lane.begin(), lane.end(), 0.0) / 3;
      for (double& part : lane) part -= mean;
    }
    for_each_coordinate(way, slope, [](double& w, double& s, bool) { w = memory * w + (1 - memory) * s; });
    for_each_coordinate(now, way, [&](double& x, double& w, bool limited) {
      if (!limited || x > 0 || w > 0) square += w * w;
    });
    if (square <= 0) break;
    const double step = std::min((1 + level) * most - here_now, 3 * level * most) / square;
    for_each_coordinate(now, way, [&](double& x, double& w, bool limited) {
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
    way = Point(pass);
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
  constexpr std::int64_t parts_visited = 40'000'000;  // in all rounds
  Dual dual(pass, needs, costs, budgets);
  const auto per_round = static_cast<std::int64_t>(pass.parts.size()) + 1;
  return climb(dual, pass, std::min<std::int64_t>(20'000, parts_visited / per_round));
}

}  // namespace voxswap::swap
