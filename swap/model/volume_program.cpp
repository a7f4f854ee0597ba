// The program. Of every volume v and segment s (volume_program.h), parts of v between 0 and 1: held when s
// begins (h), stays all through s (y), made again (r) and copied in (i) during s, copied out since the step
// began until s ends (o). In s the part h + r + i + made is there at some time. Then
//
//   needed <= h + r + i + made          what is read for the first time has to be there;
//   y <= h,  h' <= y + r + i + made     what is held when the next segment begins stayed, or came in this
//   one; o - o before s <= h + r + i + made  and what is copied out; i <= o                              only
//   what was copied out comes back (inputs lie outside from the
//                                       beginning);
//   units x r <= h + r + i + made of every source
//   sum over v (bytes x h) <= room      when s begins,
//   sum over v (bytes x y x (1 - part read)) <= room - working    while an operation of s runs;
//   T_s >= compute + sum (again_seconds x r) + delay x bytes copied in s either way,
//   T_s >= bytes copied out / rate,  T_s >= bytes copied in / rate,
//
// and the sum of T_s is least.
//
// Why no plan is shorter. Take one, and of every byte whether it lies on the device when a segment begins and
// is used from there later on, how often it is made again or copied in a segment (once counts, at least as
// much is done), and whether it was copied out. What a node or a copy reads was there when the segment began,
// or came in it: each line holds for every byte, and in a run for every byte that it reads. Averaged over the
// bytes of a volume, each piece in proportion, they are the lines above: a piece that is made again needs its
// own part of the source. Runs do not last across a border, as both are on the compute stream; copies that do
// are divided by their bytes. What the first node of a segment makes, and its workspace, have places beside
// what is held. While a node runs, what stays all through s and is no part of its working set lies beside
// that; the average over the nodes of an operation leaves out of a volume at most the part that is read by so
// many of them. `delay` is that of copy_limits (costs.h). What is left out (small volumes, latency,
// packing, a finite host, the order within a segment) a plan needs besides.
//
// CLP (COIN-OR) solves it; what is reported rests on no tolerance of its: for any prices that are not
// negative (of the lines, those of a segment's three lanes at most 1 in all), the least of the sum of T_s
// plus price x how far each line is broken, over all parts between 0 and 1, is a bound (weak duality), and
// that is computed here from CLP's prices.
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

// Sum of coefficients x unknowns <= most; unknowns are between 0 and 1, but for times.
class LinearProgram {
 public:
  int add_part() { return add_unknown(1, 0); }
  int add_seconds() { return add_unknown(COIN_DBL_MAX, 1); }

  // One line after another: its terms, then what they are at most.
  void add(int unknown, double coefficient) {
    rows_.push_back(static_cast<int>(most_.size()));
    unknowns_.push_back(unknown);
    coefficients_.push_back(coefficient);
  }
  void end_line(double most) { most_.push_back(most); }

  // Not above the optimum.
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

  // `duals`: of a line that is at most something, not positive.
  double bound(std::vector<double> duals) const {
    for (double& dual : duals) dual = std::min(0.0, dual);
    double heaviest = 1;  // of the times
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

// Numbers of the unknowns of a volume, per segment; none: there is no such.
constexpr int none = -1;
struct Unknowns {
  std::vector<int> held, stays, again, in, out;
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
      if (s > volume.from || volume.read) of.held[s] = program_.add_part();
      if (of.held[s] != none && s + 1 < volume.to) of.stays[s] = program_.add_part();
      if (s > volume.from && std::isfinite(volume.again_seconds)) of.again[s] = program_.add_part();
      if (volume.read ? link_.linked() : movable_) of.in[s] = program_.add_part();
      if (!volume.read && movable_) of.out[s] = program_.add_part();
    }
    unknowns_.push_back(std::move(of));
  }

  void add_term(int unknown, double coefficient) {
    if (unknown != none) program_.add(unknown, coefficient);
  }

  // What is there of a volume in a segment, on the right side.
  void end_with_what_is_there(std::size_t v, std::size_t s, double less = 0) {
    add_term(unknowns_[v].held[s], -1);
    end_with_what_comes(v, s, less);
  }
  void end_with_what_comes(std::size_t v, std::size_t s, double less = 0) {
    add_term(unknowns_[v].again[s], -1), add_term(unknowns_[v].in[s], -1);
    program_.end_line(segments_.volumes[v].made[s] - less);
  }

  void add_lines(std::size_t v, std::size_t s) {
    const MovedVolume& volume = segments_.volumes[v];
    const Unknowns& of = unknowns_[v];
    if (volume.needed[s] > 0) end_with_what_is_there(v, s, std::min(1.0, volume.needed[s]));
    if (s + 1 < volume.to) {
      add_term(of.held[s + 1], 1), add_term(of.stays[s], -1);
      end_with_what_comes(v, s);
      add_term(of.stays[s], 1), add_term(of.held[s], -1);
      program_.end_line(0);
    }
    if (of.out[s] != none) {
      const int before = s > volume.from ? of.out[s - 1] : none;
      add_term(of.out[s], 1), add_term(before, -1);
      end_with_what_is_there(v, s);
      add_term(of.out[s], -1), add_term(before, 1);
      program_.end_line(0);
      add_term(of.in[s], 1), add_term(of.out[s], -1);
      program_.end_line(0);
    }
    if (of.again[s] == none) return;
    for (const MovedVolume::Source& source : volume.sources) {
      add_term(of.again[s], source.units);
      end_with_what_is_there(source.volume, s);
    }
  }

  // Its lanes, in units of the step's compute time, and its memory, in units of the room.
  void add_segment_of(std::size_t s) {
    for (std::size_t v = 0; v < unknowns_.size(); ++v) {
      const MovedVolume& volume = segments_.volumes[v];
      if (unknowns_[v].again[s] != none) add_term(unknowns_[v].again[s], volume.again_seconds / unit_);
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
      add_term(unknowns_[v].held[s], segments_.volumes[v].bytes / unit);
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
  const bool movable_;  // there are links, and a pool for all values
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
