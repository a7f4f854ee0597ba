// The linear program. The unknowns are fractions between 0 and 1 of every volume v in every segment s
// (volume_program.h): resident when s begins (h), resident throughout s (y), recomputed (r) and copied in (i)
// during s, and copied out before the end of s (o). The fraction available in s is a = h + r + i + produced.
// Minimise the sum of T_s subject to
// - needed <= a: a first read finds its input;
// - y <= h and h' <= y + r + i + produced: what is resident at the start of the next segment;
// - o - (o of the previous segment) <= a, and i <= o: copies out, and only copied bytes return (inputs always
// may);
// - units x r <= a of every source: recomputation needs its inputs;
// - sum over v (bytes x h) <= room, when s begins;
// - sum over v (bytes x y x (1 - part read)) <= room - working, while an operation of s runs;
// - T_s >= compute + sum (recompute_seconds x r) + delay x bytes copied in s;
// - T_s >= bytes copied out / rate, and T_s >= bytes copied in / rate.
//
// Proof that no plan is shorter. Take a plan, and set for every byte: whether it is resident when a segment
// begins and used later, whether it is recomputed or copied in a segment (several times count once), and
// whether it was copied out. What a node or a copy reads was resident when the segment began or arrived in
// it, so each constraint holds for every byte. Averaged over the bytes of a volume, each slab in proportion,
// they are the constraints above; a recomputed slab needs its own part of the source. Nodes do not run across
// a border; copies that do are divided by bytes. The outputs and the workspace of the first node of a segment
// need memory beside h. While a node runs, volumes that stay throughout s and are not in its working set need
// memory beside it; the average over the nodes of an operation excludes at most `part read` of a volume.
// `delay` is that of copy_limits (costs.h). Everything ignored (small volumes, latency, packing, the limit of
// host memory, the order within a segment) only makes a plan slower.
//
// CLP (COIN-OR) solves the program. The reported bound does not depend on its tolerances: for any dual prices
// that are not negative (those of the three lanes of a segment adding up to at most 1), the minimum of the
// Lagrangian over all fractions between 0 and 1 is a lower bound (weak duality). It is computed here from
// CLP's prices.
#include "swap/model/volume_program.h"

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

constexpr int most_iterations = 60'000;

// A constraint: sum of coefficients x unknowns <= most. Unknowns are between 0 and 1, except times.
class LinearProgram {
 public:
  int add_part() { return add_unknown(1, 0); }
  int add_seconds() { return add_unknown(COIN_DBL_MAX, 1); }

  // Adds a constraint term by term, then its right-hand side.
  void add(int unknown, double coefficient) {
    rows_.push_back(static_cast<int>(most_.size()));
    unknowns_.push_back(unknown);
    coefficients_.push_back(coefficient);
  }
  void end_line(double most) { most_.push_back(most); }

  // A bound not above the optimum.
  double solve() const {
    CoinPackedMatrix matrix(false, rows_.data(), unknowns_.data(), coefficients_.data(),
                            static_cast<CoinBigIndex>(rows_.size()));
    matrix.setDimensions(static_cast<int>(most_.size()), static_cast<int>(upper_.size()));
    const std::vector<double> least(upper_.size(), 0), lowest(most_.size(), -COIN_DBL_MAX);
    ClpSimplex clp;
    clp.setLogLevel(0);
    clp.setMaximumIterations(most_iterations);
    clp.loadProblem(matrix, least.data(), upper_.data(), objective_.data(), lowest.data(), most_.data());
    ClpSolve how;
    how.setSolveType(ClpSolve::usePrimal);
    how.setPresolveType(ClpSolve::presolveOn);
    clp.initialSolve(how);
    return bound(std::vector<double>(clp.dualRowSolution(), clp.dualRowSolution() + most_.size()));
  }

 private:
  int add_unknown(double upper, double objective) {
    upper_.push_back(upper);
    objective_.push_back(objective);
    return static_cast<int>(upper_.size()) - 1;
  }

  // `duals`: not positive, as CLP has them for <= constraints.
  double bound(std::vector<double> duals) const {
    for (double& dual : duals) dual = std::min(0.0, dual);
    double heaviest = 1;  // weight of the times
    std::vector<double> reduced = reduced_costs(duals);
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (upper_[i] > 1) heaviest = std::max(heaviest, 1 - reduced[i]);
    for (double& dual : duals) dual /= heaviest;
    reduced = reduced_costs(duals);
    double seconds = 0;
    for (std::size_t i = 0; i < most_.size(); ++i) seconds += duals[i] * most_[i];
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (upper_[i] <= 1) seconds += std::min(0.0, reduced[i]);
    return seconds;
  }

  std::vector<double> reduced_costs(const std::vector<double>& duals) const {
    std::vector<double> reduced = objective_;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      reduced[static_cast<std::size_t>(unknowns_[i])] -=
          duals[static_cast<std::size_t>(rows_[i])] * coefficients_[i];
    return reduced;
  }

  std::vector<double> upper_, objective_;
  std::vector<int> rows_, unknowns_;
  std::vector<double> coefficients_, most_;
};

// Indices of the unknowns of a volume, per segment; none: not an unknown.
constexpr int none = -1;
struct Unknowns {
  std::vector<int> resident, stays, recomputed, in, out;
};

class Builder {
 public:
  Builder(const VolumeSegments& segments, const CostModel& costs, const Budgets& budgets)
      : segments_(segments),
        link_(copy_limits(costs)),
        movable_(budgets.host > 0 && link_.linked()),
        unit_(std::accumulate(segments.compute.begin(), segments.compute.end(), 0.0)) {}

  double solve() {
    for (std::size_t s = 0; s < segments_.compute.size(); ++s) seconds_.push_back(program_.add_seconds());
    for (const MovedVolume& volume : segments_.volumes) add_unknowns(volume);
    for (std::size_t v = 0; v < unknowns_.size(); ++v)
      for (std::size_t s = segments_.volumes[v].from; s < segments_.volumes[v].to; ++s) add_lines(v, s);
    for (std::size_t s = 0; s < seconds_.size(); ++s) add_segment_of(s);
    return unit_ * program_.solve();
  }

 private:
  void add_unknowns(const MovedVolume& volume) {
    const std::size_t all = seconds_.size();
    const std::vector<int> nothing(all, none);
    Unknowns of{nothing, nothing, nothing, nothing, nothing};
    for (std::size_t s = volume.from; s < volume.to; ++s) {
      if (s > volume.from || volume.read) of.resident[s] = program_.add_part();
      if (of.resident[s] != none && s + 1 < volume.to) of.stays[s] = program_.add_part();
      if (s > volume.from && std::isfinite(volume.recompute_seconds)) of.recomputed[s] = program_.add_part();
      if (volume.read ? link_.linked() : movable_) of.in[s] = program_.add_part();
      if (!volume.read && movable_) of.out[s] = program_.add_part();
    }
    unknowns_.push_back(std::move(of));
  }

  void add_term(int unknown, double coefficient) {
    if (unknown != none) program_.add(unknown, coefficient);
  }

  // The fraction of a volume available in a segment, on the right-hand side.
  void end_with_available(std::size_t v, std::size_t s, double less = 0) {
    add_term(unknowns_[v].resident[s], -1);
    end_with_arriving(v, s, less);
  }
  void end_with_arriving(std::size_t v, std::size_t s, double less = 0) {
    add_term(unknowns_[v].recomputed[s], -1), add_term(unknowns_[v].in[s], -1);
    program_.end_line(segments_.volumes[v].produced[s] - less);
  }

  void add_lines(std::size_t v, std::size_t s) {
    const MovedVolume& volume = segments_.volumes[v];
    const Unknowns& of = unknowns_[v];
    if (volume.needed[s] > 0) end_with_available(v, s, std::min(1.0, volume.needed[s]));
    if (s + 1 < volume.to) {
      add_term(of.resident[s + 1], 1), add_term(of.stays[s], -1);
      end_with_arriving(v, s);
      add_term(of.stays[s], 1), add_term(of.resident[s], -1);
      program_.end_line(0);
    }
    if (of.out[s] != none) {
      const int before = s > volume.from ? of.out[s - 1] : none;
      add_term(of.out[s], 1), add_term(before, -1);
      end_with_available(v, s);
      add_term(of.out[s], -1), add_term(before, 1);
      program_.end_line(0);
      add_term(of.in[s], 1), add_term(of.out[s], -1);
      program_.end_line(0);
    }
    if (of.recomputed[s] == none) return;
    for (const MovedVolume::Source& source : volume.sources) {
      add_term(of.recomputed[s], source.units);
      end_with_available(source.volume, s);
    }
  }

  // The constraints of a segment's lanes, in units of the compute time, and of its memory, in units of the
  // room.
  void add_segment_of(std::size_t s) {
    for (std::size_t v = 0; v < unknowns_.size(); ++v) {
      const MovedVolume& volume = segments_.volumes[v];
      if (unknowns_[v].recomputed[s] != none)
        add_term(unknowns_[v].recomputed[s], volume.recompute_seconds / unit_);
      add_copies(v, s, true, true, volume.bytes * link_.delay / unit_);
    }
    add_term(seconds_[s], -1);
    program_.end_line(-segments_.compute[s] / unit_);
    for (const bool out : {false, true}) {
      const double rate = out ? link_.out : link_.in;
      for (std::size_t v = 0; v < unknowns_.size() && rate > 0; ++v)
        add_copies(v, s, !out, out, segments_.volumes[v].bytes / rate / unit_);
      add_term(seconds_[s], -1);
      program_.end_line(0);
    }
    const double unit = segments_.all_room;
    for (std::size_t v = 0; v < unknowns_.size(); ++v)
      add_term(unknowns_[v].resident[s], segments_.volumes[v].bytes / unit);
    program_.end_line(segments_.room[s] / unit);
    for (const VolumeMoment& moment : segments_.moments[s]) {
      std::vector<double> beside(unknowns_.size(), 1);
      for (const VolumeMoment::Read& read : moment.reads) beside[read.volume] -= read.part;
      for (std::size_t v = 0; v < unknowns_.size(); ++v)
        add_term(unknowns_[v].stays[s], beside[v] * segments_.volumes[v].bytes / unit);
      program_.end_line((unit - moment.working) / unit);
    }
  }

  void add_copies(std::size_t v, std::size_t s, bool in, bool out, double seconds) {
    if (in) add_term(unknowns_[v].in[s], seconds);
    if (!out) return;
    add_term(unknowns_[v].out[s], seconds);
    if (s > segments_.volumes[v].from) add_term(unknowns_[v].out[s - 1], -seconds);
  }

  const VolumeSegments& segments_;
  const CopyLimits link_;
  const bool movable_;  // there are links, and a pool large enough for all values
  const double unit_;   // seconds
  LinearProgram program_;
  std::vector<int> seconds_;  // per segment
  std::vector<Unknowns> unknowns_;
};

}  // namespace

double volume_program_seconds(const net::Graph& graph, const Needs& needs,
                              const std::vector<double>& node_seconds, const CostModel& costs,
                              const Budgets& budgets) {
  const double seconds = std::accumulate(node_seconds.begin(), node_seconds.end(), 0.0);
  const auto room = static_cast<double>(occupied(budgets.device) - needs.persistent);
  const std::vector<std::int64_t> across = bytes_across(graph, needs);
  bool fits = true;
  for (std::size_t node = 0; node < node_seconds.size(); ++node)
    fits = fits && static_cast<double>(across[node] + needs.working[node].least_bytes) <= room;
  if (fits || seconds <= 0) return seconds;
  return Builder(find_segments(graph, needs, node_seconds, room), costs, budgets).solve();
}

}  // namespace voxswap::swap
