#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "experiments/keys.h"
#include "experiments/value_types.h"
#include "swap/planners/planner.h"

namespace voxswap::experiments {

namespace {

using namespace value_types;

// Checks that all entries of a map are in `names`.
void check_entries(const Yaml& map, const std::string& path, const std::vector<std::string>& names) {
  for (const auto& [name, value] : map.entries) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string guess = nearest(name, names);
    fail(Exit::usage, "{}: unknown key '{}.{}'. {}", value.where, path, name,
         guess.empty() ? "It has " + join(names, ", ") : "Did you mean '" + path + "." + guess + "'?");
  }
}

// True for names of GPUs in other programs.
bool is_gpu_elsewhere(const std::string& name) {
  return name == "gpu" || name == "nvidia" || name.starts_with("gpu:") ||
         (name != "cuda" && name.starts_with("cuda") && !name.starts_with("cuda:"));
}

// Only checks the syntax; whether the device exists is determined when it is opened.
Key device() {
  const std::string path = "memory.device";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const bool cuda =
        value.kind == Yaml::Kind::scalar &&
        (value.text == "cuda" || (value.text.starts_with("cuda:") && value.text.size() > 5 &&
                                  value.text.find_first_not_of("0123456789", 5) == std::string::npos));
    if (value.kind == Yaml::Kind::scalar && is_gpu_elsewhere(lower(value.text)))
      fail(Exit::usage, "{}: {}: '{}' is not a device. Use cuda for a GPU, cuda:1 for the second one",
           value.where, path, value.text);
    o.memory.device =
        cuda ? value.text : read_choice(value, path, {"auto", "cpu", "cuda", "cuda:N", "reference"});
  };
  return {path,
          "auto | cpu | cuda | cuda:N | reference",
          "Compute device (reference: double precision, slow, for checks)",
          read,
          [](const pipeline::Experiment& o) {
            return o.memory.device.starts_with("cuda:") ? "\"" + o.memory.device + "\"" : o.memory.device;
          },
          Key::Shape::value,
          allowed::any_of(
              {allowed::choice({"auto", "cpu", "cuda", "reference"}), allowed::text_like("^cuda:[0-9]+$")})};
}

Key budget() {
  const std::string path = "memory.budget", expected = "auto or a size above 0B, such as 16GiB";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.memory.budget_bytes.reset();
    if (!is_word(value, "auto")) o.memory.budget_bytes = read_size(value, path, expected);
  };
  const auto print = [](const pipeline::Experiment& o) {
    return o.memory.budget_bytes ? size_text(*o.memory.budget_bytes) : "auto";
  };
  return {path,  "auto | a size (16GiB)", "Device memory to use (auto: free memory minus a reserve)",   read,
          print, Key::Shape::value,       allowed::any_of({allowed::choice({"auto"}), allowed::size()})};
}

Key planner() {
  std::vector<std::string> names = swap::planner_names();
  names.push_back(swap::unified_planner);
  return choice(
      "memory.planner", "Strategy that decides what is kept, swapped or recomputed",
      [](auto& o) -> auto& { return o.memory.planner; }, names);
}

Key disk() {
  const std::string path = "memory.disk", expected = "none or {path: DIR, budget: a size such as 200GiB}";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.memory.disk_folder.clear();
    o.memory.disk_bytes = 0;
    if (is_word(value, "none")) return;
    if (value.kind != Yaml::Kind::map) wrong(value, path, expected);
    check_entries(value, path, {"path", "budget"});
    const Yaml *folder = value.find("path"), *size = value.find("budget");
    if (folder == nullptr || size == nullptr) wrong(value, path, expected);
    o.memory.disk_folder = read_text(*folder, path + ".path");
    o.memory.disk_bytes = read_size(*size, path + ".budget", "a size above 0B, such as 200GiB");
  };
  const auto print = [](const pipeline::Experiment& o) {
    if (o.memory.disk_folder.empty()) return std::string("none");
    return format("{{path: {}, budget: {}}}", yaml_scalar(o.memory.disk_folder.string()),
                  size_text(o.memory.disk_bytes));
  };
  return {path,
          "none | {path: DIR, budget: SIZE}",
          "Scratch file for what exceeds the host pool",
          read,
          print,
          Key::Shape::map,
          allowed::any_of({allowed::choice({"none"}),
                           allowed::record({{"path", allowed::text()}, {"budget", allowed::size()}},
                                           {"path", "budget"})})};
}

Key link() {
  const std::string path = "memory.link",
                    expected = "measured or {to_host: a rate such as 12GB/s, to_device: a rate}";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.memory.to_host_rate = o.memory.to_device_rate = 0;
    if (is_word(value, "measured")) return;
    if (value.kind != Yaml::Kind::map || value.entries.empty()) wrong(value, path, expected);
    check_entries(value, path, {"to_host", "to_device"});
    const auto rate = [&](const char* name) {
      const Yaml* entry = value.find(name);
      return entry == nullptr ? 0.0 : read_rate(*entry, path + "." + name, "a rate above 0, such as 12GB/s");
    };
    o.memory.to_host_rate = rate("to_host");
    o.memory.to_device_rate = rate("to_device");
  };
  const auto print = [](const pipeline::Experiment& o) {
    std::vector<std::string> entries;
    const auto add = [&](const char* name, double rate) {
      if (rate > 0) entries.push_back(format("{}: {}MB/s", name, number(rate / 1e6)));
    };
    add("to_host", o.memory.to_host_rate);
    add("to_device", o.memory.to_device_rate);
    return entries.empty() ? "measured" : "{" + join(entries, ", ") + "}";
  };
  return {path,
          "measured | {to_host: RATE, to_device: RATE}",
          "Simulate a slower link between device and host",
          read,
          print,
          Key::Shape::map,
          allowed::any_of(
              {allowed::choice({"measured"}),
               allowed::record({{"to_host", allowed::rate()}, {"to_device", allowed::rate()}}, {}, 1)})};
}

// A number, or `auto` (-1 as in TFLMS), for which the planner searches.
template <class Field>
Key tflms_knob(const std::string& name, const std::string& meaning, Field field) {
  const std::string path = "memory.tflms." + name;
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    auto& knob = field(o.memory.tflms);
    knob.reset();
    if (is_word(value, "auto") || is_word(value, "-1")) return;
    if (value.kind != Yaml::Kind::scalar) wrong(value, path, "auto or a whole number of at least 0");
    knob = read_whole(value, path, {0, any_size});
  };
  const auto print = [=](const pipeline::Experiment& o) {
    const auto& knob = field(o.memory.tflms);
    return knob ? std::to_string(*knob) : std::string("auto");
  };
  return {path,
          "auto | N",
          meaning,
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto", "-1"}), allowed::whole({0, any_size})})};
}

Key slabs() {
  const std::string path = "memory.slabs", expected = "auto, none, or a whole number of planes of at least 1";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    if (is_word(value, "auto") || is_word(value, "none")) {
      o.memory.slabs = value.text == "auto" ? net::automatic_slabs : net::whole_volumes;
      return;
    }
    const auto planes = parse_number<std::int64_t>(value.text);
    if (value.kind != Yaml::Kind::scalar || !planes || *planes < 1) wrong(value, path, expected);
    o.memory.slabs = *planes;
  };
  const auto print = [](const pipeline::Experiment& o) {
    if (o.memory.slabs == net::automatic_slabs) return std::string("auto");
    return o.memory.slabs == net::whole_volumes ? "none" : std::to_string(o.memory.slabs);
  };
  return {path,
          "auto | none | planes per slab",
          "Slab thickness in planes along the depth axis (none: whole volumes)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto", "none"}), allowed::whole({1, any_size})})};
}

Key rank_slabs() {
  const std::string path = "ranks.slabs", expected = "auto or a whole number of ranks of at least 1";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.slabs = 0;
    if (is_word(value, "auto")) return;
    const auto ranks = parse_number<std::int64_t>(value.text);
    if (value.kind != Yaml::Kind::scalar || !ranks || *ranks < 1) wrong(value, path, expected);
    o.slabs = *ranks;
  };
  return {path,
          "auto | a number of ranks",
          "Number of ranks that share each volume, in slabs along the depth axis (auto: all)",
          read,
          [](const pipeline::Experiment& o) { return o.slabs == 0 ? "auto" : std::to_string(o.slabs); },
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto"}), allowed::whole({1, 1e6})})};
}

Key lms_threshold() {
  const std::string path = "memory.lms_threshold";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.memory.lms_threshold = read_size(value, path, "a size above 0B, such as 8MiB");
  };
  return {path,
          "a size (8MiB)",
          "Size above which a value is swapped to host memory (lms-threshold)",
          read,
          [](const pipeline::Experiment& o) { return size_text(o.memory.lms_threshold); },
          Key::Shape::value,
          allowed::size()};
}

}  // namespace

std::vector<Key> memory_keys() {
  std::vector<Key> table = {
      device(),
      budget(),
      planner(),
      size_or_none(
          "memory.host", "Host memory for swapped values (auto: free memory beyond the budget)",
          [](auto& o) -> auto& { return o.memory.host_bytes; }),
      disk(),
      link(),
      tflms_knob(
          "swapout_threshold", "Graph levels to the next use beyond which a value is swapped out (tflms)",
          [](auto& o) -> auto& { return o.swapout_threshold; }),
      tflms_knob(
          "swapin_ahead", "Graph levels before its use at which a value is swapped in (tflms)",
          [](auto& o) -> auto& { return o.swapin_ahead; }),
      tflms_knob(
          "swapin_groupby", "Graph levels within which uses share one swap-in (tflms)",
          [](auto& o) -> auto& { return o.swapin_groupby; }),
      whole("memory.tflms.sync_mode", "Copies to wait for: 0 none, 1 swap-outs, 2 swap-ins, 3 both (tflms)",
            [](auto& o) -> auto& { return o.memory.tflms.sync_mode; }, {0, 3}),
      lms_threshold(),
      rank_slabs()};
  for (Key& key : table) key.decides = pipeline::Decides::memory;
  Key split = slabs();
  split.decides = pipeline::Decides::model;  // slabs affect the rounding of sums
  table.insert(table.begin() + 6, std::move(split));
  return table;
}

}  // namespace voxswap::experiments
