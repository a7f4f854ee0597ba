// Draws the arena as plain SVG without scripts, with names as tooltips. The horizontal axis counts kernels in
// the order in which they run; copies fall between two kernels. Rectangles less than a pixel high or wide are
// merged with their neighbours, so that the picture stays small for graphs of thousands of nodes.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/shape.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"
#include "net/graph/origin.h"
#include "swap/plan/arena_style.h"
#include "swap/plan/plan_report.h"

namespace voxswap::swap {
namespace {

using svg::line;
using svg::pixels;
using svg::round_step;
using svg::text_at;

// The frame, in pixels; y grows downward.
constexpr double width = 1200, left = 112, right = width - 16, top = 92, plot_height = 460;
constexpr double bottom = top + plot_height, row_height = 34, bar_height = 26;
constexpr double letter = 6.1;  // width in the small font

constexpr std::size_t shades = std::tuple_size_v<decltype(Style::shades)>;

struct Volume {  // in slabs
  std::size_t shade = 0, slabs = 0;
};

class Picture {
 public:
  Picture(const net::Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    find_slots();
    find_fates();
    find_volumes();
    const auto peak = static_cast<double>(std::max<std::int64_t>(plan.peak_bytes, 1));
    scale_bytes_ = 1.09 * peak;
    if (const auto budget = static_cast<double>(plan.budget_bytes); budget < 1.7 * peak)
      scale_bytes_ = std::max(scale_bytes_, 1.06 * budget);
  }

  std::string draw() {
    const Layers values = places();
    std::string body =
        heading() + legend() + byte_axis() + values.shapes + live_sum() + budget() + phases() + values.names;
    double y = bottom + 10;
    for (const Lane lane : {Lane::to_host, Lane::to_device, Lane::to_disk, Lane::from_disk, Lane::compute})
      if (const std::string row = copies_row(lane, y); !row.empty()) {
        body += row;
        y += row_height;
      }
    body += kernel_axis(y);
    return opening(y + 44) + body + "</svg>\n";
  }

 private:
  // Slot of an instruction: the number of kernels that run before it. Copies are drawn at the start of a
  // slot.
  void find_slots() {
    int runs = 0;
    for (const Instruction& instruction : plan_.instructions) {
      slot_.push_back(runs);
      if (instruction.kind == Instruction::Kind::run) {
        ++runs;
        runs_.push_back(&instruction);
      }
    }
    slots_ = std::max(runs, 1);
  }
  double x(double slot) const { return left + (right - left) * slot / slots_; }
  double y(auto bytes) const { return bottom - plot_height * static_cast<double>(bytes) / scale_bytes_; }
  double begin_slot(const Residency& r) const { return slot_[index(r.first)]; }
  double end_slot(const Residency& r) const {
    const bool run = plan_.instructions[index(r.last)].kind == Instruction::Kind::run;
    return slot_[index(r.last)] + (run ? 1 : 0);
  }
  std::string kernel_name(int slot) const {
    if (static_cast<std::size_t>(slot) >= runs_.size()) return "the end";
    return "'" + graph_.node(runs_[static_cast<std::size_t>(slot)]->node).name + "'";
  }

  void find_fates() {
    fate_.assign(graph_.values().size(), Fate::stays);
    for (std::size_t id = 0; id < fate_.size(); ++id) {
      const net::Value& value = graph_.values()[id];
      if (value.persistent()) fate_[id] = Fate::persistent;
      if (value.role == net::Role::gradient) fate_[id] = Fate::gradient;
    }
    for (const Instruction& instruction : plan_.instructions) {
      if (instruction.kind != Instruction::Kind::run) fate_[index(instruction.value)] = Fate::swapped;
      if (instruction.kind == Instruction::Kind::run && instruction.recomputed)
        for (const net::ValueId value : graph_.node(instruction.node).outputs)
          fate_[index(value)] = Fate::recomputed;
    }
  }
  // Volumes in slabs have alternating shades.
  void find_volumes() {
    volume_of_ = net::number_volumes(graph_).values;
    volumes_.resize(volume_of_.size());
    std::size_t next = 0;
    for (std::size_t id = 0; id < volume_of_.size(); ++id) {
      if (graph_.values()[id].origin.slab == net::none) continue;
      Volume& volume = volumes_[index(volume_of_[id])];
      if (volume.slabs++ == 0) volume.shade = next++ % shades;
    }
    has_slabs_ = next > 0;
  }
  const Volume* volume(const Residency& r) const {  // null: not in slabs
    if (r.value == net::none) return nullptr;
    const Volume& volume = volumes_[index(volume_of_[index(r.value)])];
    return volume.slabs == 0 ? nullptr : &volume;
  }
  Fate fate(const Residency& r) const {
    return r.value == net::none ? Fate::workspace : fate_[index(r.value)];
  }

  std::string opening(double height) const {
    return format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "class=\"arena\" role=\"img\" aria-label=\"The device arena over a step, planner {2}\">\n"
        "<style>{3}</style>\n<rect width=\"{0}\" height=\"{1}\" class=\"ground\"/>\n",
        pixels(width), pixels(height), xml_escaped(plan_.planner), arena_css());
  }

  std::string heading() const {
    std::string text =
        format("Device arena over a step, planner {}: {}", plan_.planner, format_bytes(plan_.peak_bytes));
    text +=
        plan_.budget_bytes == unlimited ? ", no budget" : format(" of {}", format_bytes(plan_.budget_bytes));
    if (plan_.host_bytes > 0) text += format(", host pool {}", format_bytes(plan_.host_bytes));
    if (plan_.disk_bytes > 0) text += format(", scratch file {}", format_bytes(plan_.disk_bytes));
    return text_at(left, 26, "head", text);
  }

  std::string legend() const {
    bool present[std::size(styles)] = {};
    for (const Residency& r : plan_.residencies) present[static_cast<std::size_t>(fate(r))] = true;
    std::string result;
    double at = left, row = 41;  // of the samples' upper edges; two rows fit above the plot
    const auto room_for = [&](double sample, std::string_view label) {
      const double needed = sample + 5 + letter * static_cast<double>(label.size());
      if (at > left && at + needed > right) at = left, row += 18;
      const double begin = at;
      at += needed + 20;
      return begin;
    };
    for (std::size_t i = 0; i < std::size(styles); ++i) {
      if (!present[i]) continue;
      const double x0 = room_for(12, styles[i].label);
      result += format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" class=\"edge {}\"/>\n", pixels(x0),
                       pixels(row), styles[i].css_class);
      result += text_at(x0 + 17, row + 10, "", styles[i].label);
    }
    if (has_slabs_) {
      const char* note = "slabs of a volume share a shade; hover over one to highlight all";
      const double x0 = room_for(0, note);
      result += text_at(x0, row + 10, "", note);
    }
    const char* sum = "sum of live values";
    const double x0 = room_for(16, sum);
    return result + line(x0, row + 6, x0 + 16, row + 6, "sum") + text_at(x0 + 21, row + 10, "", sum);
  }

  struct Box {
    double x0, y0, x1, y1;
  };
  using Rows = std::map<std::tuple<Fate, double, double>, std::vector<Box>>;  // by rows of pixels

  // Rectangles, and their names, which are drawn above the lines.
  struct Layers {
    std::string shapes, names;
  };

  Layers places() const {
    std::vector<const Residency*> sorted;
    for (const Residency& r : plan_.residencies)
      if (fate(r) != Fate::persistent) sorted.push_back(&r);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Residency* a, const Residency* b) { return a->first < b->first; });
    Layers large;
    std::map<std::string, std::string> groups;  // residencies of a volume, highlighted together
    Rows tiny;
    if (plan_.persistent_bytes > 0) add_persistent(large);
    for (const Residency* r : sorted) {
      const Box box = {x(begin_slot(*r)), y(r->offset + r->bytes), x(end_slot(*r)), y(r->offset)};
      if (box.x1 - box.x0 >= 0.75 && box.y1 - box.y0 >= 0.75) {
        add_place(box, *r, r->value == net::none ? large.shapes : groups[volume_name(*r)], large.names);
      } else {
        const Box cell = whole_pixels(box);
        tiny[{fate(*r), cell.y0, cell.y1}].push_back(cell);
      }
    }
    for (const auto& [name, shapes] : groups) large.shapes += "<g>\n" + shapes + "</g>\n";
    return {joined(tiny) + large.shapes, large.names};
  }
  std::string volume_name(const Residency& r) const {
    return graph_.value(r.value).origin.with_slab(net::none).text();
  }

  // At least one pixel wide; a residency may even lie between two kernels.
  static Box whole_pixels(const Box& box) {
    const double x0 = std::min(std::floor(box.x0), right - 1), y0 = std::min(std::floor(box.y0), bottom - 1);
    return {x0, y0, std::max(std::ceil(box.x1), x0 + 1), std::max(std::ceil(box.y1), y0 + 1)};
  }

  void add_persistent(Layers& layers) const {
    const std::size_t count = graph_.with_role(net::Role::parameter).size(),
                      states = graph_.with_role(net::Role::optimizer_state).size();
    const std::string title = format("{} and {} of optimiser state\n{}", counted(count, "parameter"),
                                     counted(states, "value"), format_bytes(plan_.persistent_bytes));
    const Box box = {left, y(plan_.persistent_bytes), right, bottom};
    layers.shapes += rectangle(box, style(Fate::persistent).css_class, title);
    add_name(layers.names, box, style(Fate::persistent).css_class, {style(Fate::persistent).label});
  }

  void add_place(const Box& box, const Residency& r, std::string& shapes, std::string& names) const {
    const Volume* const whole = volume(r);
    const std::string css_class = class_of(fate(r), whole == nullptr ? 0 : whole->shade);
    shapes += rectangle(box, css_class, tooltip(r));
    const net::Origin origin = r.value == net::none ? "workspace" : graph_.value(r.value).origin;
    const std::string name = r.value == net::none ? "workspace" : graph_.value(r.value).name;
    add_name(names, box, css_class, {name, origin.slab == net::none ? "" : format("[{}]", origin.slab)});
  }
  // The first name for which there is room.
  static void add_name(std::string& names, const Box& box, const std::string& css_class,
                       const std::vector<std::string>& choice) {
    if (box.y1 - box.y0 < 13) return;
    for (const std::string& name : choice) {
      if (name.empty() || box.x1 - box.x0 < letter * static_cast<double>(name.size()) + 8) continue;
      names += text_at(box.x0 + 4, (box.y0 + box.y1) / 2 + 3.5, "in " + css_class, name);
      return;
    }
  }
  static std::string rectangle(const Box& box, const std::string& css_class, const std::string& title) {
    const double w = box.x1 - box.x0, h = box.y1 - box.y0;
    return format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}{}\"><title>{}</title></rect>\n",
        pixels(box.x0), pixels(box.y0), pixels(w), pixels(h), std::min(w, h) >= 2.5 ? "edge " : "", css_class,
        xml_escaped(title));
  }
  std::string tooltip(const Residency& r) const {
    const int first = slot_[index(r.first)], last = static_cast<int>(end_slot(r)) - 1;
    const std::string where = format("{} at offset {}\nfrom {} to {}, instructions {} to {}",
                                     format_bytes(r.bytes), format_bytes(r.offset), kernel_name(first),
                                     kernel_name(std::max(first, last)), r.first, r.last);
    if (r.value == net::none) return format("workspace of '{}'\n{}", graph_.node(r.node).name, where);
    const net::Value& value = graph_.value(r.value);
    const Volume* const whole = volume(r);
    return format("{}{}\n{} {}, {}\n{}", value.name,
                  value.origin.slab == net::none ? "" : format(", one of {}", counted(whole->slabs, "slab")),
                  value.shape.text(), net::element_name(value.type), style(fate(r)).label, where);
  }

  // Merges neighbours in a row into one rectangle.
  static std::string joined(Rows& tiny) {
    std::string result;
    for (auto& [row, boxes] : tiny) {
      std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.x0 < b.x0; });
      for (std::size_t i = 0; i < boxes.size();) {
        Box whole = boxes[i];
        std::size_t next = i + 1;
        for (; next < boxes.size() && boxes[next].x0 <= whole.x1; ++next)
          whole.x1 = std::max(whole.x1, boxes[next].x1);
        result += rectangle({whole.x0, whole.y0, std::min(whole.x1, right), std::min(whole.y1, bottom)},
                            style(std::get<0>(row)).css_class,
                            counted(static_cast<std::int64_t>(next - i), "small place"));
        i = next;
      }
    }
    return result;
  }

  // The largest live sum since the previous kernel; in long steps, since several.
  std::string live_sum() const {
    constexpr int most_points = 500;
    const int points = std::min(slots_, most_points);
    std::vector<std::int64_t> most(static_cast<std::size_t>(points), 0);
    for (std::size_t i = 0; i < plan_.live_bytes.size(); ++i) {
      const auto slot = static_cast<std::int64_t>(std::min(slot_[i], slots_ - 1));
      std::int64_t& sum = most[static_cast<std::size_t>(slot * points / slots_)];
      sum = std::max(sum, plan_.live_bytes[i]);
    }
    std::string path;
    for (int point = 0; point < points; ++point)
      path += format("{}{} {}H{}", point == 0 ? "M" : "L", pixels(x(1.0 * slots_ * point / points)),
                     pixels(y(most[static_cast<std::size_t>(point)])),
                     pixels(x(1.0 * slots_ * (point + 1) / points)));
    return format("<path d=\"{0}\" class=\"halo\"/>\n<path d=\"{0}\" class=\"sum\"/>\n", path);
  }

  std::string budget() const {
    if (plan_.budget_bytes == unlimited) return "";
    const auto bytes = static_cast<double>(plan_.budget_bytes);
    const std::string text = "budget " + format_bytes(plan_.budget_bytes);
    if (bytes > scale_bytes_) return text_at(right - 4, top + 13, "end", text + ", above this plot");
    return line(left, y(bytes), right, y(bytes), "budget") + text_at(right - 4, y(bytes) - 5, "end", text);
  }

  // The start of the backward pass.
  std::string phases() const {
    const auto first = std::find_if(runs_.begin(), runs_.end(), [&](const Instruction* run) {
      return graph_.node(run->node).phase == net::Phase::backward;
    });
    if (first == runs_.end()) return "";
    const double turn = x(static_cast<double>(first - runs_.begin()));
    return line(turn, top - 18, turn, bottom, "turn") + text_at(turn - 6, top - 8, "end", "forward") +
           text_at(turn + 6, top - 8, "", "backward");
  }

  std::string byte_axis() const {
    double unit = 1;
    const char* name = "B";
    for (const char* larger : {"KiB", "MiB", "GiB", "TiB"})
      if (scale_bytes_ >= 1024 * unit) unit *= 1024, name = larger;
    std::string result;
    const double step = round_step(scale_bytes_ / unit, 8);
    for (double tick = 0; tick * unit <= scale_bytes_; tick += step) {
      result += line(left, y(tick * unit), right, y(tick * unit), "grid");
      result += text_at(left - 8, y(tick * unit) + 4, "end", format("{:.3g} {}", tick, name));
    }
    return result + line(left, top, left, bottom, "axis") + line(left, bottom, right, bottom, "axis");
  }

  // Bars of the bytes that a lane copies before each kernel; for the compute lane, of the kernels recomputed.
  std::string copies_row(Lane lane, double row_top) const {
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(slots_), 0);
    std::vector<std::string> what(bytes.size());
    std::int64_t sum = 0, most = 0;
    const bool recomputed = lane == Lane::compute;
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      if (instruction.lane() != lane || (recomputed && !instruction.recomputed)) continue;
      const auto slot = static_cast<std::size_t>(std::min(slot_[i], slots_ - 1));
      bytes[slot] += recomputed ? 1 : instruction.bytes;
      sum += recomputed ? 1 : instruction.bytes;
      most = std::max(most, bytes[slot]);
      const std::string& name =
          recomputed ? graph_.node(instruction.node).name : graph_.value(instruction.value).name;
      if (what[slot].find("\n" + name) == std::string::npos) what[slot] += "\n" + name;
    }
    if (sum == 0) return "";
    static constexpr const char* labels[] = {"recomputed", "swapped out", "swapped in", "to disk",
                                             "from disk"};
    std::string result =
        text_at(left - 8, row_top + 13, "end", labels[static_cast<std::size_t>(lane)]) +
        text_at(left - 8, row_top + 25, "end pale", recomputed ? counted(sum, "kernel") : format_bytes(sum));
    const double floor = row_top + bar_height;
    for (std::size_t slot = 0; slot < bytes.size(); ++slot) {
      if (bytes[slot] == 0) continue;
      const double height =
          std::max(1.0, bar_height * static_cast<double>(bytes[slot]) / static_cast<double>(most));
      const auto at = static_cast<double>(slot);
      const std::string title = (recomputed ? "recomputed:"
                                            : format("{} before {}:", format_bytes(bytes[slot]),
                                                     kernel_name(static_cast<int>(slot)))) +
                                what[slot];
      result +=
          format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"><title>{}</title></rect>\n",
                 pixels(x(at)), pixels(floor - height), pixels(std::max(0.8, x(at + 1) - x(at))),
                 pixels(height), recomputed ? "r" : "move", xml_escaped(title));
    }
    return result + line(left, floor, right, floor, "grid");
  }

  std::string kernel_axis(double axis) const {
    std::string result = line(left, axis, right, axis, "axis");
    const double step = std::max(1.0, round_step(slots_, 12));
    for (double tick = 0; tick <= slots_; tick += step)
      result += line(x(tick), axis, x(tick), axis + 4, "axis") +
                text_at(x(tick), axis + 16, "middle", format("{:.0f}", tick));
    return result +
           text_at((left + right) / 2, axis + 34, "middle", "kernels of the step, in execution order");
  }

  const net::Graph& graph_;
  const Plan& plan_;
  std::vector<int> slot_;                 // of every instruction
  std::vector<const Instruction*> runs_;  // of every slot
  int slots_ = 1;
  std::vector<Fate> fate_;               // of every value
  std::vector<std::int32_t> volume_of_;  // per value: index into volumes_
  std::vector<Volume> volumes_;          // those in slabs have some
  bool has_slabs_ = false;
  double scale_bytes_ = 1;  // at the top of the plot
};

}  // namespace

std::string arena_svg(const net::Graph& graph, const Plan& plan) {
  return Picture(graph, plan).draw();
}

}  // namespace voxswap::swap
