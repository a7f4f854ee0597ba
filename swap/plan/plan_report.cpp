// A plan for machines (plan.json) and for people (memories, traffic, contents of the arena at its peak).
#include "swap/plan/plan_report.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::swap {
namespace {

std::string_view role_name(net::Role role) {
  constexpr std::string_view names[] = {"input",      "parameter", "optimizer_state",
                                        "activation", "statistic", "gradient"};
  return names[static_cast<std::size_t>(role)];
}

Json entry(const net::Graph& graph, const Instruction& instruction, std::int64_t live_bytes) {
  Json entry = {{"kind", kind_name(instruction.kind)}, {"lane", lane_name(instruction.lane())}};
  if (instruction.kind == Instruction::Kind::run) {
    const net::Node& node = graph.node(instruction.node);
    entry.update({{"node", instruction.node},
                  {"name", node.name},
                  {"operation", node.operation->name},
                  {"recomputed", instruction.recomputed}});
  } else {
    entry.update({{"value", instruction.value},
                  {"name", graph.value(instruction.value).name},
                  {"begin", instruction.begin},
                  {"bytes", instruction.bytes},
                  {"host", instruction.host}});
    if (instruction.lane() == Lane::to_disk || instruction.lane() == Lane::from_disk)
      entry["disk"] = instruction.disk;
  }
  entry["waits"] = instruction.waits;
  entry["live_bytes"] = live_bytes;
  return entry;
}

Json entry(const net::Graph& graph, const Streamed& streamed) {
  return {{"value", streamed.value},
          {"name", graph.value(streamed.value).name},
          {"bytes", graph.value(streamed.value).bytes()},
          {"host", streamed.host}};
}

Json entry(const net::Graph& graph, const Residency& r) {
  Json entry;
  if (r.value != net::none) {
    const net::Value& value = graph.value(r.value);
    entry = {{"value", r.value},
             {"name", value.name},
             {"role", role_name(value.role)},
             {"shape", value.shape.extents()},
             {"type", net::element_name(value.type)}};
  } else {
    entry = {{"workspace_of", r.node}, {"name", graph.node(r.node).name}};
  }
  entry.update({{"offset", r.offset}, {"bytes", r.bytes}, {"first", r.first}, {"last", r.last}});
  return entry;
}

// A member of the root object, its entries on a line each.
std::string lines(std::string_view name, const std::vector<std::string>& entries) {
  return format(",\n \"{}\": [{}{}]", name, entries.empty() ? "" : "\n  ", join(entries, ",\n  "));
}

std::int32_t fullest_instruction(const Plan& plan) {
  const auto peak = std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
  return static_cast<std::int32_t>(peak - plan.live_bytes.begin());
}

std::string percent(std::int64_t part, std::int64_t whole, int digits) {
  if (whole == 0) return "";
  return format("{:.{}f}", 100 * static_cast<double>(part) / static_cast<double>(whole), digits);
}

// "'dec1.conv' (conv3d)", or "copy_in of 'enc1' before 'dec1.conv' (conv3d)"
std::string describe(const net::Graph& graph, const Plan& plan, std::int32_t at) {
  const auto node_text = [&](const Instruction& run) {
    const net::Node& node = graph.node(run.node);
    return format("'{}' ({}){}", node.name, node.operation->name, run.recomputed ? ", recomputed" : "");
  };
  const Instruction& instruction = plan.instructions[static_cast<std::size_t>(at)];
  if (instruction.kind == Instruction::Kind::run) return node_text(instruction);
  std::string text = format("{} of '{}'", kind_name(instruction.kind), graph.value(instruction.value).name);
  for (std::size_t next = static_cast<std::size_t>(at); next < plan.instructions.size(); ++next)
    if (plan.instructions[next].kind == Instruction::Kind::run)
      return text + " before " + node_text(plan.instructions[next]);
  return text;
}

// Peaks beside budgets. Host and disk are listed only if something is swapped.
std::string tiers_text(const Plan& plan) {
  std::vector<std::vector<std::string>> rows = {{"memory", "peak", "budget", "%"}};
  const auto add = [&](const char* tier, std::int64_t peak, std::int64_t budget) {
    const std::string text = budget == 0 ? "none" : budget == unlimited ? "unlimited" : format_bytes(budget);
    rows.push_back({tier, format_bytes(peak), text, percent(peak, budget == unlimited ? 0 : budget, 1)});
  };
  add("device", plan.peak_bytes, plan.budget_bytes);
  if (plan.host_bytes > 0) {
    add("host pool", plan.host_bytes, plan.host_budget_bytes);
    add("scratch file", plan.disk_bytes, plan.disk_budget_bytes);
  }
  return table(rows);
}

// Bytes swapped and nodes recomputed; empty for a plan with neither.
std::string work_text(const Plan& plan) {
  const PlanTotals sums = totals(plan);
  std::int64_t count[lane_count] = {}, recomputations = 0;
  for (const Instruction& instruction : plan.instructions) {
    ++count[static_cast<std::size_t>(instruction.lane())];
    recomputations += instruction.recomputed ? 1 : 0;
  }
  std::string text;
  const auto line = [&](Lane lane, const char* label, std::int64_t bytes, const std::string& remark) {
    if (const std::int64_t copies = count[static_cast<std::size_t>(lane)]; copies > 0)
      text += format("{:<20}{:>12}   in {} copies{}\n", label, format_bytes(bytes), copies, remark);
  };
  if (plan.streamed_bytes > 0)
    text +=
        format("{:<20}{:>12}   of the step's inputs and outputs, in host memory in addition to the pool\n",
               "streamed", format_bytes(plan.streamed_bytes));
  line(Lane::to_host, "device to host", sums.out_bytes,
       format(", {} swapped out", counted(sums.values_out, "value")));
  line(Lane::to_device, "host to device", sums.in_bytes, "");
  line(Lane::to_disk, "host to disk", sums.disk_out_bytes, "");
  line(Lane::from_disk, "disk to host", sums.disk_in_bytes, "");
  if (const std::int64_t exchanges = count[static_cast<std::size_t>(Lane::exchange)]; exchanges > 0)
    text += format("{:<20}{:>12}   with other ranks, overlapped with computation\n", "exchanges", exchanges);
  if (recomputations > 0)
    text += format("{:<20}{:>12}   recomputed, {} in total\n", "recomputed",
                   counted(sums.recomputed_nodes, "node"), counted(recomputations, "time"));
  if (plan.predicted_seconds > 0)
    text += format("{:<20}{:>12}   predicted\n", "step time", format_seconds(plan.predicted_seconds));
  return text;
}

// A live value or workspace, or the live slabs of a volume.
struct Live {
  std::string name, role, shape;
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;
  std::vector<std::string> slabs;  // "[0]", "[1]"

  std::string name_text() const {
    if (slabs.size() < 2) return name + (slabs.empty() ? "" : slabs[0]);
    return format("{}, {}", name, counted(slabs.size(), "slab"));
  }
};

Live live_of(const net::Graph& graph, const Residency& r) {
  if (r.value == net::none)
    return {"workspace of " + graph.node(r.node).name, "workspace", "", r.bytes, r.first, r.last, {}};
  const net::Value& value = graph.value(r.value);
  Live live = {value.origin.with_slab(net::none).text(),
               std::string(role_name(value.role)),
               format("{} {}", value.shape.text(), net::element_name(value.type)),
               r.bytes,
               r.first,
               r.last,
               {}};
  if (value.origin.slab != net::none) live.slabs.push_back(format("[{}]", value.origin.slab));
  return live;
}

// Sorted by size, the largest first. The slabs of a volume are one entry.
std::vector<Live> live_at(const net::Graph& graph, const Plan& plan, std::int32_t at) {
  std::vector<Live> list;
  std::map<std::string, std::size_t> volumes;
  for (const Residency& r : plan.residencies) {
    if (at < r.first || r.last < at) continue;
    Live live = live_of(graph, r);
    if (!live.slabs.empty()) {
      const auto [place, is_new] = volumes.try_emplace(live.name, list.size());
      if (!is_new) {
        Live& volume = list[place->second];
        volume.bytes += live.bytes;
        volume.first = std::min(volume.first, live.first);
        volume.last = std::max(volume.last, live.last);
        volume.slabs.push_back(live.slabs[0]);
        continue;
      }
    }
    list.push_back(std::move(live));
  }
  std::stable_sort(list.begin(), list.end(), [](const Live& a, const Live& b) { return a.bytes > b.bytes; });
  return list;
}

std::string fullest_text(const net::Graph& graph, const Plan& plan) {
  const std::int32_t at = fullest_instruction(plan);
  const std::vector<Live> live = live_at(graph, plan, at);
  constexpr std::size_t shown = 12;
  std::vector<std::vector<std::string>> rows = {{"value", "role", "shape", "size", "%", "instructions"}};
  for (std::size_t i = 0; i < std::min(live.size(), shown); ++i)
    rows.push_back({live[i].name_text(), live[i].role, live[i].shape, format_bytes(live[i].bytes),
                    percent(live[i].bytes, plan.live_peak_bytes, 1),
                    format("{}-{}", live[i].first, live[i].last)});
  return format("peak memory at instruction {}: {}. Largest of {} live then:\n", at,
                describe(graph, plan, at), counted(live.size(), "value")) +
         table(rows);
}

}  // namespace

std::string plan_json(const net::Graph& graph, const Plan& plan) {
  const PlanTotals sums = totals(plan);
  Json root = {{"planner", plan.planner},
               {"remarks", plan.remarks},
               {"budget_bytes", plan.budget_bytes == unlimited ? 0 : plan.budget_bytes},
               {"host_budget_bytes", plan.host_budget_bytes},
               {"disk_budget_bytes", plan.disk_budget_bytes},
               {"peak_bytes", plan.peak_bytes},
               {"host_bytes", plan.host_bytes},
               {"streamed_bytes", plan.streamed_bytes},
               {"disk_bytes", plan.disk_bytes},
               {"persistent_bytes", plan.persistent_bytes},
               {"live_peak_bytes", plan.live_peak_bytes},
               {"out_bytes", sums.out_bytes},
               {"in_bytes", sums.in_bytes},
               {"disk_out_bytes", sums.disk_out_bytes},
               {"disk_in_bytes", sums.disk_in_bytes},
               {"values_out", sums.values_out},
               {"recomputed_nodes", sums.recomputed_nodes},
               {"predicted_seconds", plan.predicted_seconds}};
  std::vector<std::string> kept, streamed, instructions, residencies;
  for (const net::ValueId value : plan.kept) kept.push_back(Json(graph.value(value).name).dump());
  for (const Streamed& one : plan.streamed) streamed.push_back(entry(graph, one).dump());
  for (std::size_t i = 0; i < plan.instructions.size(); ++i)
    instructions.push_back(entry(graph, plan.instructions[i], plan.live_bytes[i]).dump());
  for (const Residency& r : plan.residencies) residencies.push_back(entry(graph, r).dump());
  std::string text = root.dump(1);
  text.resize(text.size() - 2);  // up to the line with the closing brace
  return text + lines("kept", kept) + lines("streamed", streamed) + lines("instructions", instructions) +
         lines("residencies", residencies) + "\n}\n";
}

std::string plan_text(const net::Graph& graph, const Plan& plan) {
  std::string text =
      format("planner {}, {}\n", plan.planner, counted(plan.instructions.size(), "instruction"));
  if (!plan.remarks.empty()) text += plan.remarks + "\n";
  text += "\n" + tiers_text(plan) + "\n";
  text += format(
      "{:<20}{:>12}   lower bound of the peak; this plan is {} % above it\n", "largest live sum",
      format_bytes(plan.live_peak_bytes),
      percent(std::max<std::int64_t>(plan.peak_bytes - plan.live_peak_bytes, 0), plan.live_peak_bytes, 2));
  text += format("{:<20}{:>12}   parameters and optimiser state\n", "persistent",
                 format_bytes(plan.persistent_bytes));
  text += work_text(plan);
  return plan.instructions.empty() ? text : text + "\n" + fullest_text(graph, plan);
}

}  // namespace voxswap::swap
