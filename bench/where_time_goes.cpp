#include "bench/where_time_goes.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "swap/model/simulator.h"

namespace voxswap {
namespace {

using swap::Lane;

constexpr double gib = 1.0 / (1 << 30);

std::size_t at(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

std::string volume_name(const net::Origin& origin) {
  return origin.with_slab(net::none).text();
}

// Seconds in a part of the step, or in all of it.
struct Shares {
  double once = 0, recompute = 0;
  double for_link = 0, for_memory = 0, for_copy_out = 0;  // of waiting
  double out = 0, in = 0;                                 // the link is busy
  double live = 0;                                        // bytes times seconds
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
      all.once += part.once, all.recompute += part.recompute, all.for_link += part.for_link;
      all.for_memory += part.for_memory, all.for_copy_out += part.for_copy_out;
      all.out += part.out, all.in += part.in, all.live += part.live;
    }
    fmt::print("step {:.1f} ms, bound {:.1f} ms ({:.3f} times)\n\n", 1e3 * run_.seconds, 1e3 * bound.seconds,
               run_.seconds / bound.seconds);
    std::vector<std::vector<std::string>> rows = {{"part", "once", "recomputed", "wait: link", "memory",
                                                   "copy out", "out busy", "in busy", "GiB live"}};
    for (std::size_t i = 0; i < count; ++i) rows.push_back(row(number(static_cast<double>(i)), parts_[i]));
    rows.push_back(row("all", all));
    fmt::print("{}\n", table(rows));
    print_most("recomputed", "ms", 1e3, recomputed_, once_, "times");
    print_most("copied in", "GiB", gib, in_, out_, "of it out");
  }

 private:
  // The largest of `numbers`, and their ratio to `others` of the same name.
  static void print_most(const char* what, const char* unit, double times,
                         const std::map<std::string, double>& numbers,
                         const std::map<std::string, double>& others, const char* ratio) {
    const bool of_others = times > 1;
    std::vector<std::pair<double, std::string>> most;
    for (const auto& [name, seconds] : numbers) most.emplace_back(seconds, name);
    std::sort(most.rbegin(), most.rend());
    std::vector<std::vector<std::string>> rows = {{what, unit, ratio}};
    for (std::size_t i = 0; i < std::min<std::size_t>(most.size(), 24); ++i) {
      const auto other = others.find(most[i].second);
      const double beside = other == others.end() ? 0 : other->second;
      rows.push_back({most[i].second, format("{:.1f}", times * most[i].first),
                      format("{:.2f}", of_others ? most[i].first / beside : beside / most[i].first)});
    }
    fmt::print("{}\n", table(rows));
  }

  std::vector<std::string> row(const std::string& name, const Shares& part) const {
    std::vector<std::string> cells = {name};
    for (const double seconds :
         {part.once, part.recompute, part.for_link, part.for_memory, part.for_copy_out, part.out, part.in})
      cells.push_back(format("{:.1f}", 1e3 * seconds));
    const double length = part.once + part.recompute + part.for_link + part.for_memory + part.for_copy_out;
    cells.push_back(format("{:.2f}", length > 0 ? part.live / length * gib : 0));
    return cells;
  }

  void add(const swap::Instruction& instruction, std::int32_t i, double free) {
    const double begin = run_.begin[at(i)], end = run_.end[at(i)];
    if (instruction.lane() == Lane::to_host || instruction.lane() == Lane::to_device) {
      const bool out = instruction.lane() == Lane::to_host;
      const std::string volume = volume_name(graph_.value(instruction.value).origin);
      (out ? out_ : in_)[volume] += static_cast<double>(instruction.bytes);
      return spread(begin, end, out ? &Shares::out : &Shares::in);
    }
    if (instruction.lane() != Lane::compute) return;
    if (begin > free) spread(free, begin, waited_for(instruction));
    spread(begin, end, instruction.recomputed ? &Shares::recompute : &Shares::once);
    spread(free, end, &Shares::live, static_cast<double>(plan_.live_bytes[at(i)]));
    const std::string volume = volume_name(graph_.node(instruction.node).origin);
    (instruction.recomputed ? recomputed_ : once_)[volume] += end - begin;
  }

  // The awaited copy started when the previous one ended (waiting for the link), or later (waiting for
  // memory).
  double Shares::*waited_for(const swap::Instruction& instruction) const {
    const auto ends_before = [&](std::int32_t a, std::int32_t b) {
      return run_.end[at(a)] < run_.end[at(b)];
    };
    const auto last = std::max_element(instruction.waits.begin(), instruction.waits.end(), ends_before);
    if (last == instruction.waits.end() || plan_.instructions[at(*last)].lane() != Lane::to_device)
      return &Shares::for_copy_out;
    const std::int32_t before = before_[at(*last)];
    const double free = before == net::none ? 0 : run_.end[at(before)];
    return run_.begin[at(*last)] <= free ? &Shares::for_link : &Shares::for_memory;
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
  std::vector<Shares> parts_;                                   // of the step, equally long
  std::vector<std::int32_t> before_;                            // instruction on the same lane
  std::map<std::string, double> once_, recomputed_, out_, in_;  // seconds, and bytes, by volume
};

}  // namespace

void print_where_time_goes(const net::Graph& graph, const swap::Plan& plan, const swap::CostModel& costs,
                           const swap::Bound& bound) {
  Account(graph, plan, costs).print(bound);
}

}  // namespace voxswap
