#include "bench/where_time_goes.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "net/graph/piece.h"
#include "swap/model/simulator.h"

namespace voxswap {
namespace {

using swap::Lane;

std::size_t at(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

// Seconds of a part of the step, or of all of it.
struct Shares {
  double once = 0, again = 0;
  double for_link = 0, for_place = 0, for_way_out = 0;  // of waiting
  double out = 0, in = 0;                               // the link is busy
  double live = 0;                                      // bytes times seconds
};

class Account {
 public:
  Account(const net::Graph& graph, const swap::Plan& plan, const swap::CostModel& costs)
      : graph_(graph), plan_(plan), run_(swap::simulate(plan, costs)), parts_(count) {
    std::int32_t last[swap::lane_count];
    std::fill(std::begin(last), std::end(last), net::none);
    for (std::int32_t i = 0; at(i) < plan.instructions.size(); ++i) {
      const swap::Instruction& instruction = plan.instructions[at(i)];
      std::int32_t& before = last[static_cast<std::size_t>(instruction.lane())];
      before_.push_back(before);
      add(instruction, i, before == net::none ? 0 : run_.end[at(before)]);
      before = i;
    }
  }

  void print(const swap::Bound& bound) const {
    Shares all;
    for (const Shares& part : parts_) {
      all.once += part.once, all.again += part.again, all.for_link += part.for_link;
      all.for_place += part.for_place, all.for_way_out += part.for_way_out;
      all.out += part.out, all.in += part.in, all.live += part.live;
    }
    fmt::print("step {:.1f} ms, bound {:.1f} ms ({:.3f} times)\n\n", 1e3 * run_.seconds, 1e3 * bound.seconds,
               run_.seconds / bound.seconds);
    std::vector<std::vector<std::string>> rows = {
        {"part", "once", "again", "wait: link", "place", "way out", "out busy", "in busy", "GiB live"}};
    for (std::size_t i = 0; i < count; ++i) rows.push_back(row(number(static_cast<double>(i)), parts_[i]));
    rows.push_back(row("all", all));
    fmt::print("{}\n", table(rows));
    std::vector<std::pair<double, std::string>> most;
    for (const auto& [name, seconds] : again_) most.emplace_back(seconds, name);
    std::sort(most.rbegin(), most.rend());
    std::vector<std::vector<std::string>> made = {{"made again", "ms", "times"}};
    for (std::size_t i = 0; i < std::min<std::size_t>(most.size(), 24); ++i)
      made.push_back({most[i].second, format("{:.1f}", 1e3 * most[i].first),
                      format("{:.2f}", most[i].first / once_.at(most[i].second))});
    fmt::print("{}\n", table(made));
  }

 private:
  std::vector<std::string> row(const std::string& name, const Shares& part) const {
    std::vector<std::string> cells = {name};
    for (const double seconds :
         {part.once, part.again, part.for_link, part.for_place, part.for_way_out, part.out, part.in})
      cells.push_back(format("{:.1f}", 1e3 * seconds));
    const double length = part.once + part.again + part.for_link + part.for_place + part.for_way_out;
    cells.push_back(format("{:.2f}", length > 0 ? part.live / length / (1 << 30) : 0));
    return cells;
  }

  void add(const swap::Instruction& instruction, std::int32_t i, double free) {
    const double begin = run_.begin[at(i)], end = run_.end[at(i)];
    if (instruction.kind == swap::Instruction::Kind::copy_out) return spread(begin, end, &Shares::out);
    if (instruction.kind == swap::Instruction::Kind::copy_in) return spread(begin, end, &Shares::in);
    if (instruction.lane() != Lane::compute) return;
    if (begin > free) spread(free, begin, waited_for(instruction));
    spread(begin, end, instruction.again ? &Shares::again : &Shares::once);
    spread(free, end, &Shares::live, static_cast<double>(plan_.live_bytes[at(i)]));
    const std::string volume = net::split_piece_name(graph_.node(instruction.node).name).volume;
    (instruction.again ? again_ : once_)[volume] += end - begin;
  }

  // The copy whose end is waited for began when the one before it was done, or later, when it had a place.
  double Shares::*waited_for(const swap::Instruction& instruction) const {
    const auto ends_before = [&](std::int32_t a, std::int32_t b) {
      return run_.end[at(a)] < run_.end[at(b)];
    };
    const auto last = std::max_element(instruction.waits.begin(), instruction.waits.end(), ends_before);
    if (last == instruction.waits.end() || plan_.instructions[at(*last)].lane() != Lane::to_device)
      return &Shares::for_way_out;
    const std::int32_t before = before_[at(*last)];
    const double free = before == net::none ? 0 : run_.end[at(before)];
    return run_.begin[at(*last)] <= free ? &Shares::for_link : &Shares::for_place;
  }

  void spread(double from, double to, double Shares::*what, double times = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      const double begin = run_.seconds * static_cast<double>(i) / count,
                   end = run_.seconds * static_cast<double>(i + 1) / count;
      parts_[i].*what += times * std::max(0.0, std::min(to, end) - std::max(from, begin));
    }
  }

  static constexpr std::size_t count = 20;
  const net::Graph& graph_;
  const swap::Plan& plan_;
  const swap::Simulation run_;
  std::vector<Shares> parts_;                   // of the step, equally long
  std::vector<std::int32_t> before_;            // instruction on the same lane
  std::map<std::string, double> once_, again_;  // seconds, by volume
};

}  // namespace

void print_where_time_goes(const net::Graph& graph, const swap::Plan& plan, const swap::CostModel& costs,
                           const swap::Bound& bound) {
  Account(graph, plan, costs).print(bound);
}

}  // namespace voxswap
