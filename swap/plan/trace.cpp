// Writes the time line: an event per instruction in the row of its lane, and counters of the memories.
#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/shape.h"
#include "base/text.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/plan/occupancy.h"
#include "swap/plan/plan_report.h"

namespace voxswap::swap {
namespace {

double microseconds(double seconds) {
  return seconds * 1e6;
}

class Timeline {
 public:
  Timeline(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
           const std::vector<double>& end)
      : graph_(graph), plan_(plan), begin_(begin), end_(end) {}

  std::string json() {
    name_rows();
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) add_instruction(i);
    add_counters();
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
      const net::Node& node = graph_.node(instruction.node);
      name = node.name + (instruction.recomputed ? " (recomputed)" : "");
      category = node.operation->name;
      arguments.update({{"operation", category},
                        {"bytes", net::node_bytes(graph_, node)},
                        {"recomputed", instruction.recomputed}});
    } else {
      const net::Value& value = graph_.value(instruction.value);
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

  void add_counters() {
    const Occupancy occupied = occupancy(graph_, plan_, begin_, end_);
    const auto add = [&](const char* name, const std::vector<BytesFrom>& levels) {
      for (const BytesFrom& level : levels)
        events_.push_back({{"name", name},
                           {"ph", "C"},
                           {"pid", 1},
                           {"ts", microseconds(level.seconds)},
                           {"args", {{"bytes", level.bytes}}}});
    };
    add("device bytes", occupied.device);
    add("host bytes", occupied.host);
    add("disk bytes", occupied.disk);
  }

  const net::Graph& graph_;
  const Plan& plan_;
  const std::vector<double>&begin_, &end_;
  std::vector<Json> events_;
};

}  // namespace

std::string timeline_json(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                          const std::vector<double>& end) {
  return Timeline(graph, plan, begin, end).json();
}

}  // namespace voxswap::swap
