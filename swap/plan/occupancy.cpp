#include "swap/plan/occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/shape.h"

namespace voxswap::swap {
namespace {

// A number of bytes that changes over time.
class Counter {
 public:
  void add(double from, double to, std::int64_t bytes) {
    changes_[from] += bytes;
    changes_[to] -= bytes;
  }
  std::vector<BytesFrom> levels() const {
    std::vector<BytesFrom> levels;
    std::int64_t level = 0;
    for (const auto& [seconds, change] : changes_) {
      if (change != 0 && std::isfinite(seconds)) levels.push_back({seconds, level += change});
    }
    return levels;
  }

 private:
  std::map<double, std::int64_t> changes_;
};

// Occupancy of the host pool or the scratch file: bytes count from the instruction that writes them to the
// last one that reads them before they are overwritten.
class Store {
 public:
  void write(std::int64_t offset, std::int64_t bytes, std::int32_t instruction) {
    cut(offset, bytes);
    for (auto range = ranges_.lower_bound(offset); range != ranges_.end() && range->first < offset + bytes;) {
      past_.push_back(range->second);
      range = ranges_.erase(range);
    }
    ranges_[offset] = {bytes, instruction, instruction};
  }
  void read(std::int64_t offset, std::int64_t bytes, std::int32_t instruction) {
    cut(offset, bytes);
    for (auto range = ranges_.lower_bound(offset); range != ranges_.end() && range->first < offset + bytes;
         ++range)
      range->second.last = instruction;
  }
  Counter counter(const std::vector<double>& begin, const std::vector<double>& end) const {
    Counter counter;
    const auto add = [&](const Range& range) {
      counter.add(begin[index(range.first)], end[index(range.last)], range.bytes);
    };
    for (const Range& range : past_) add(range);
    for (const auto& [offset, range] : ranges_) add(range);
    return counter;
  }

 private:
  struct Range {
    std::int64_t bytes = 0;
    std::int32_t first = 0, last = 0;  // instructions
  };

  // Splits ranges at both bounds.
  void cut(std::int64_t offset, std::int64_t bytes) {
    for (const std::int64_t at : {offset, offset + bytes}) {
      auto range = ranges_.upper_bound(at);
      if (range == ranges_.begin()) continue;
      --range;
      const std::int64_t before = at - range->first;
      if (before <= 0 || before >= range->second.bytes) continue;
      Range rest = range->second;
      rest.bytes -= before;
      range->second.bytes = before;
      ranges_[at] = rest;
    }
  }

  std::map<std::int64_t, Range> ranges_;  // by offset
  std::vector<Range> past_;
};

// A residency counts from the start of its first instruction to the end of its last, or to the start of the
// instruction that overwrites it in place. Parameters and optimiser state stay for the next step.
Counter device_counter(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                       const std::vector<double>& end) {
  const double step_end = end.empty() ? 0 : *std::max_element(end.begin(), end.end());
  std::multimap<std::int32_t, const Residency*> by_first;
  for (const Residency& r : plan.residencies) by_first.emplace(r.first, &r);
  Counter counter;
  for (const Residency& r : plan.residencies) {
    const bool from_outside =
        r.value != net::none && r.first == 0 && graph.value(r.value).producer == net::none;
    const bool to_the_end = index(r.last) + 1 == plan.instructions.size();
    const auto [first, last] = by_first.equal_range(r.last);
    const bool written_over = std::any_of(first, last, [&](const auto& entry) {
      const Residency& other = *entry.second;
      return &other != &r && other.offset < r.offset + r.bytes && r.offset < other.offset + other.bytes;
    });
    const bool stays = to_the_end && r.value != net::none && graph.value(r.value).persistent();
    const double until = stays        ? std::numeric_limits<double>::infinity()
                         : to_the_end ? step_end
                                      : end[index(r.last)];
    counter.add(from_outside ? 0 : begin[index(r.first)], written_over ? begin[index(r.last)] : until,
                r.bytes);
  }
  return counter;
}

}  // namespace

Occupancy occupancy(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                    const std::vector<double>& end) {
  Store host, disk;
  for (const Streamed& streamed : plan.streamed)
    if (graph.value(streamed.value).producer == net::none)
      host.write(streamed.host, graph.value(streamed.value).bytes(), 0);
  for (std::int32_t i = 0; index(i) < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[index(i)];
    switch (instruction.kind) {
      case Instruction::Kind::run:
        break;
      case Instruction::Kind::copy_out:
        host.write(instruction.host, instruction.bytes, i);
        break;
      case Instruction::Kind::copy_in:
        host.read(instruction.host, instruction.bytes, i);
        break;
      case Instruction::Kind::write_disk:
        host.read(instruction.host, instruction.bytes, i);
        disk.write(instruction.disk, instruction.bytes, i);
        break;
      case Instruction::Kind::read_disk:
        disk.read(instruction.disk, instruction.bytes, i);
        host.write(instruction.host, instruction.bytes, i);
        break;
    }
  }
  for (const Streamed& streamed : plan.streamed)  // to the end of the step
    host.read(streamed.host, graph.value(streamed.value).bytes(),
              static_cast<std::int32_t>(plan.instructions.size()) - 1);
  return {device_counter(graph, plan, begin, end).levels(), host.counter(begin, end).levels(),
          disk.counter(begin, end).levels()};
}

}  // namespace voxswap::swap
