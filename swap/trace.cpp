// What the time line holds: an event per instruction in the row of its lane, and the counters, which are
// found by following each memory through the plan.
#include "swap/trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "net/operation.h"

namespace voxswap {
namespace {

using Json = nlohmann::ordered_json;

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

double microseconds(double seconds) {
  return seconds * 1e6;
}

// A number of bytes that changes over time.
class Counter {
 public:
  void add(double from, double to, std::int64_t bytes) {
    changes_[from] += bytes;
    changes_[to] -= bytes;
  }
  void append_events(const char* name, std::vector<Json>& events) const {
    std::int64_t level = 0;
    for (const auto& [seconds, change] : changes_) {
      if (change == 0) continue;
      level += change;
      events.push_back({{"name", name},
                        {"ph", "C"},
                        {"pid", 1},
                        {"ts", microseconds(seconds)},
                        {"args", {{"bytes", level}}}});
    }
  }

 private:
  std::map<double, std::int64_t> changes_;
};

// What the host pool or the scratch file holds: bytes count from the instruction that writes them to the last
// that reads them before they are written again.
class Store {
 public:
  void write(std::int64_t offset, std::int64_t bytes, std::int32_t instruction) {
    cut(offset, bytes);
    for (auto piece = pieces_.lower_bound(offset); piece != pieces_.end() && piece->first < offset + bytes;) {
      past_.push_back(piece->second);
      piece = pieces_.erase(piece);
    }
    pieces_[offset] = {bytes, instruction, instruction};
  }
  void read(std::int64_t offset, std::int64_t bytes, std::int32_t instruction) {
    cut(offset, bytes);
    for (auto piece = pieces_.lower_bound(offset); piece != pieces_.end() && piece->first < offset + bytes;
         ++piece)
      piece->second.last = instruction;
  }
  Counter counter(const std::vector<double>& begin, const std::vector<double>& end) const {
    Counter counter;
    const auto add = [&](const Piece& piece) {
      counter.add(begin[index(piece.first)], end[index(piece.last)], piece.bytes);
    };
    for (const Piece& piece : past_) add(piece);
    for (const auto& [offset, piece] : pieces_) add(piece);
    return counter;
  }

 private:
  struct Piece {
    std::int64_t bytes = 0;
    std::int32_t first = 0, last = 0;  // instructions
  };

  // Pieces end at both bounds.
  void cut(std::int64_t offset, std::int64_t bytes) {
    for (const std::int64_t at : {offset, offset + bytes}) {
      auto piece = pieces_.upper_bound(at);
      if (piece == pieces_.begin()) continue;
      --piece;
      const std::int64_t before = at - piece->first;
      if (before <= 0 || before >= piece->second.bytes) continue;
      Piece rest = piece->second;
      rest.bytes -= before;
      piece->second.bytes = before;
      pieces_[at] = rest;
    }
  }

  std::map<std::int64_t, Piece> pieces_;  // by offset
  std::vector<Piece> past_;
};

class Timeline {
 public:
  Timeline(const Graph& graph, const Plan& plan, const std::vector<double>& begin,
           const std::vector<double>& end)
      : graph_(graph), plan_(plan), begin_(begin), end_(end) {
    for (const double seconds : end) step_end_ = std::max(step_end_, seconds);
  }

  std::string json() {
    name_rows();
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) add_instruction(i);
    device_counter().append_events("device bytes", events_);
    add_store_counters();
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    for (std::size_t i = 0; i < events_.size(); ++i) text += (i > 0 ? ",\n" : "") + events_[i].dump();
    return text + "\n]}\n";
  }

 private:
  static int row(Lane lane) { return static_cast<int>(lane) + 1; }

  void name_rows() {
    const auto metadata = [&](const char* what, int tid, Json arguments) {
      events_.push_back(
          {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", tid}, {"args", std::move(arguments)}});
    };
    metadata("process_name", 0, {{"name", format("step of planner {}", plan_.planner)}});
    for (std::size_t i = 0; i < lane_count; ++i) {
      const auto lane = static_cast<Lane>(i);
      metadata("thread_name", row(lane), {{"name", lane_name(lane)}});
      metadata("thread_sort_index", row(lane), {{"sort_index", i}});
    }
  }

  void add_instruction(std::int32_t i) {
    const Instruction& instruction = plan_.instructions[index(i)];
    Json arguments = {{"instruction", i}};
    std::string name, category;
    if (instruction.kind == Instruction::Kind::run) {
      const Node& node = graph_.node(instruction.node);
      name = node.name + (instruction.again ? " (again)" : "");
      category = node.operation->name;
      arguments.update(
          {{"operation", category}, {"bytes", node_bytes(graph_, node)}, {"again", instruction.again}});
    } else {
      const Value& value = graph_.value(instruction.value);
      name = value.name;
      category = lane_name(instruction.lane());
      arguments.update({{"begin", instruction.begin}, {"bytes", instruction.bytes}, {"of", value.bytes()}});
    }
    arguments["waits"] = instruction.waits;
    events_.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"pid", 1},
                       {"tid", row(instruction.lane())},
                       {"ts", microseconds(begin_[index(i)])},
                       {"dur", microseconds(end_[index(i)] - begin_[index(i)])},
                       {"args", std::move(arguments)}});
  }

  // A place counts from the begin of its first instruction to the end of its last; one that is written over
  // in place, to the begin of that instruction.
  Counter device_counter() const {
    std::multimap<std::int32_t, const Residency*> by_first;
    for (const Residency& r : plan_.residencies) by_first.emplace(r.first, &r);
    Counter counter;
    for (const Residency& r : plan_.residencies) {
      const bool from_outside = r.value != none && r.first == 0 && graph_.value(r.value).producer == none;
      const bool to_the_end = index(r.last) + 1 == plan_.instructions.size();
      const auto [first, last] = by_first.equal_range(r.last);
      const bool written_over = std::any_of(first, last, [&](const auto& entry) {
        const Residency& other = *entry.second;
        return &other != &r && other.offset < r.offset + r.bytes && r.offset < other.offset + other.bytes;
      });
      const double until = to_the_end ? step_end_ : end_[index(r.last)];
      counter.add(from_outside ? 0 : begin_[index(r.first)], written_over ? begin_[index(r.last)] : until,
                  r.bytes);
    }
    return counter;
  }

  void add_store_counters() {
    Store host, disk;
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[index(i)];
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
    host.counter(begin_, end_).append_events("host bytes", events_);
    disk.counter(begin_, end_).append_events("disk bytes", events_);
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::vector<double>&begin_, &end_;
  double step_end_ = 0;
  std::vector<Json> events_;
};

}  // namespace

std::string timeline_json(const Graph& graph, const Plan& plan, const std::vector<double>& begin,
                          const std::vector<double>& end) {
  return Timeline(graph, plan, begin, end).json();
}

}  // namespace voxswap
