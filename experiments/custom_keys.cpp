#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "experiments/value_types.h"
#include "metrics/metrics.h"

namespace voxswap::experiments::value_types {

namespace {

void read_size(const Yaml& value, const std::string& path, const std::string& expected, Size3& size) {
  const Range side{1, 65536};
  if (value.kind == Yaml::Kind::list) {
    if (value.items.size() != 2 && value.items.size() != 3) wrong(value, path, expected);
    size[2] = 1;
    for (std::size_t axis = 0; axis < value.items.size(); ++axis)
      size[axis] = read_whole(value.items[axis], path, side);
  } else if (value.kind == Yaml::Kind::scalar) {
    size.fill(read_whole(value, path, side));
  } else {
    wrong(value, path, expected);
  }
}

Json allowed_size() {
  const Json side = allowed::whole({1, 65536});
  return allowed::any_of({side, allowed::list_of(side, 2, 3)});
}

std::string print_size(const Size3& size) {
  const auto& [x, y, z] = size;
  return x == y && y == z ? std::to_string(x) : format("[{}, {}, {}]", x, y, z);
}

}  // namespace

std::string spacing_text(const Spacing& spacing) {
  return format("[{}, {}, {}]", number(spacing[0]), number(spacing[1]),
                spacing[2] > 0 ? number(spacing[2]) : "own");
}

Key resolution() {
  const std::string path = "preprocess.resolution";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.automatic_resolution = is_word(value, "auto");
    if (o.preprocess.automatic_resolution) return;
    read_size(value, path, "a whole number, or [x, y, z], or [x, y] for 2D images, or auto",
              o.preprocess.resolution);
  };
  const auto print = [](const pipeline::Experiment& o) {
    return o.preprocess.automatic_resolution ? "auto" : print_size(o.preprocess.resolution);
  };
  return {path,
          "N | [x, y, z] | [x, y] | auto",
          "Voxels after crop and resize (auto, the default with a spacing: the largest case)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto"}), allowed_size()})};
}

Key spacing() {
  const std::string path = "preprocess.spacing",
                    expected = "none, auto or [x, y, z] in mm, where z may be own";
  const Range side{0, 1e6, true};
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.spacing = {0, 0, 0};
    o.preprocess.automatic_spacing = is_word(value, "auto");
    if (o.preprocess.automatic_spacing || is_word(value, "none")) return;
    if (value.kind != Yaml::Kind::list || value.items.size() != 3) wrong(value, path, expected);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (axis < 2 || !is_word(value.items[axis], "own"))
        o.preprocess.spacing[axis] = read_number(value.items[axis], path, side);
  };
  const auto print = [](const pipeline::Experiment& o) {
    if (o.preprocess.automatic_spacing) return std::string("auto");
    return o.preprocess.by_spacing() ? spacing_text(o.preprocess.spacing) : "none";
  };
  return {path,
          "none | auto | [x, y, z] | [x, y, own]",
          "Voxel size in mm to resample to (auto: the median, own: each case's)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of(
              {allowed::choice({"none", "auto"}),
               allowed::list_of(allowed::any_of({allowed::number(side), allowed::choice({"own"})}), 3, 3)})};
}

Key patch() {
  const std::string path = "training.patch";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.training.patch.reset();
    if (value.kind == Yaml::Kind::scalar && value.text == "none") return;
    Size3 size{};
    read_size(value, path, "none, a whole number, or [x, y, z], or [x, y] for 2D images", size);
    o.training.patch = size;
  };
  const auto print = [](const pipeline::Experiment& o) {
    return o.training.patch ? print_size(*o.training.patch) : "none";
  };
  return {path,
          "none | N | [x, y, z]",
          "Patch size in voxels (none: whole volumes)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"none"}), allowed_size()})};
}

Key growth() {
  const std::string path = "training.growth";
  const Range factors{1, 64, true}, epochs{1, 1e9};
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.training.growth.clear();
    if (is_word(value, "none")) return;
    if (value.kind != Yaml::Kind::map || value.entries.empty())
      wrong(value, path, "none, or a map of factor: epochs, such as {4: 40, 2: 20}");
    for (const auto& [factor, entry] : value.entries)
      o.training.growth.push_back({read_number(parse_yaml_value(factor, entry.where), path, factors),
                                   read_whole(entry, path + "." + factor, epochs)});
  };
  const auto print = [](const pipeline::Experiment& o) {
    std::string text;
    for (const pipeline::GrowthStage& stage : o.training.growth)
      text += format("{}{}: {}", text.empty() ? "" : ", ", number(stage.coarser), stage.epochs);
    return text.empty() ? "none" : "{" + text + "}";
  };
  return {path,
          "none | a map of factor: epochs",
          "Earlier epochs on grids that are coarser by these factors",
          read,
          print,
          Key::Shape::map,
          allowed::any_of({allowed::choice({"none"}), allowed::map_of(allowed::whole(epochs), 1)})};
}

Key frozen() {
  const std::string path = "training.freeze";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.network.frozen.clear();
    if (is_word(value, "none")) return;
    const std::vector<Yaml> one{value};
    const std::vector<Yaml>& items = value.kind == Yaml::Kind::scalar ? one : value.items;
    if (items.empty()) wrong(value, path, "none, or a list of parameter names, such as [encoder]");
    for (const Yaml& item : items) o.network.frozen.push_back(read_text(item, path));
  };
  const auto print = [](const pipeline::Experiment& o) {
    std::vector<std::string> words;
    for (const std::string& pattern : o.network.frozen) words.push_back(yaml_scalar(pattern));
    return words.empty() ? "none" : "[" + join(words, ", ") + "]";
  };
  return {path,
          "none | [encoder, …]",
          "Parameters to freeze: names or prefixes, * matches anything",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::text(), allowed::list_of(allowed::text(), 1)})};
}

Key background() {
  const std::string path = "preprocess.background";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.corner_background = value.kind == Yaml::Kind::scalar && value.text == "corner";
    if (o.preprocess.corner_background) {
      o.preprocess.background = 0;
      return;
    }
    if (value.kind != Yaml::Kind::scalar || value.quoted) wrong(value, path, "a number or corner");
    o.preprocess.background = read_number(value, path, {-any_size, any_size});
  };
  const auto print = [](const pipeline::Experiment& o) {
    return o.preprocess.corner_background ? "corner" : number(o.preprocess.background);
  };
  return {path,
          "a value | corner",
          "Intensity of the background (corner: the value of each image's corner voxel)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::number({-any_size, any_size}), allowed::choice({"corner"})})};
}

Key bias_correction() {
  const std::string path = "preprocess.bias_correction", expected = "none, n4 or a list of modalities";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.bias_correction.clear();
    if (value.kind == Yaml::Kind::list) {
      for (const Yaml& item : value.items) o.preprocess.bias_correction.push_back(read_text(item, path));
      if (value.items.empty()) wrong(value, path, expected);
    } else if (read_choice(value, path, {"none", "n4"}) == "n4") {
      o.preprocess.bias_correction = {"n4"};
    }
  };
  const auto print = [](const pipeline::Experiment& o) {
    const std::vector<std::string>& names = o.preprocess.bias_correction;
    if (names.empty()) return std::string("none");
    if (names == std::vector<std::string>{"n4"}) return names[0];
    std::vector<std::string> scalars;
    for (const std::string& name : names) scalars.push_back(yaml_scalar(name));
    return "[" + join(scalars, ", ") + "]";
  };
  return {path,
          "none | n4 | [t1, …]",
          "N4 bias field correction (n4: every T1- and T2-weighted channel)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"none", "n4"}), allowed::list_of(allowed::text(), 1)})};
}

Key clip() {
  const std::string path = "preprocess.clip", expected = "none or two percentiles, [least, most]";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.clip_low = 0;
    o.preprocess.clip_high = 100;
    if (value.kind == Yaml::Kind::scalar && value.text == "none") return;
    if (value.kind != Yaml::Kind::list || value.items.size() != 2) wrong(value, path, expected);
    o.preprocess.clip_low = read_number(value.items[0], path, {0, 100});
    o.preprocess.clip_high = read_number(value.items[1], path, {0, 100});
    if (o.preprocess.clip_low >= o.preprocess.clip_high) wrong(value, path, expected);
  };
  const auto print = [](const pipeline::Experiment& o) {
    const double low = o.preprocess.clip_low, high = o.preprocess.clip_high;
    return low == 0 && high == 100 ? "none" : format("[{}, {}]", number(low), number(high));
  };
  return {path,
          "none | [least, most]",
          "Clip intensities to these percentiles of the foreground",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"none"}), allowed::list_of(allowed::number({0, 100}), 2, 2)})};
}

Key evaluated_at() {
  const std::string path = "evaluate.at";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.evaluate.at.clear();
    const std::vector<Yaml> one{value};
    for (const Yaml& item : value.kind == Yaml::Kind::list ? value.items : one) {
      const bool named =
          item.kind == Yaml::Kind::scalar && (item.text == "native" || item.text == "training");
      const bool digits = item.kind == Yaml::Kind::scalar && !item.text.empty() && std::isdigit(item.text[0]);
      if (!named && !digits) wrong(item, path, "native, training or the side of a cube, or a list of them");
      const std::string grid = named ? item.text : std::to_string(read_whole(item, path, {1, 65536}));
      if (std::find(o.evaluate.at.begin(), o.evaluate.at.end(), grid) != o.evaluate.at.end())
        fail(Exit::usage, "{}: {}: '{}' is listed twice", item.where, path, grid);
      o.evaluate.at.push_back(grid);
    }
    if (o.evaluate.at.empty()) wrong(value, path, "at least one of native, training, the side of a cube");
  };
  const auto print = [](const pipeline::Experiment& o) {
    return o.evaluate.at.size() == 1 ? o.evaluate.at[0] : "[" + join(o.evaluate.at, ", ") + "]";
  };
  const Json grid = allowed::any_of({allowed::choice({"native", "training"}), allowed::whole({1, 65536})});
  return {path,
          "native | training | N | a list",
          "Grids on which predictions are scored",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({grid, allowed::set_of(grid)})};
}

// csv stands for the tables, which are always written.
Key logs() {
  const std::string path = "training.log";
  const Choices choices = {"csv", "tensorboard", "jsonl"};
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const std::vector<Yaml> one{value};
    const std::vector<Yaml>& items = value.kind == Yaml::Kind::scalar ? one : value.items;
    if (items.empty()) wrong(value, path, "a list of " + join(choices, ", "));
    o.training.log = {};
    std::vector<std::string> seen;
    for (const Yaml& item : items) {
      const std::string name = read_choice(item, path, choices);
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        fail(Exit::usage, "{}: {}: '{}' is listed twice", item.where, path, name);
      seen.push_back(name);
      o.training.log.tensorboard |= name == "tensorboard";
      o.training.log.jsonl |= name == "jsonl";
    }
  };
  const auto print = [](const pipeline::Experiment& o) {
    return format("[csv{}{}]", o.training.log.tensorboard ? ", tensorboard" : "",
                  o.training.log.jsonl ? ", jsonl" : "");
  };
  return {path,
          "a list of " + join(choices, ", "),
          "Logs written during training",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice(choices), allowed::set_of(allowed::choice(choices))})};
}

Key scored_metrics() {
  const std::string path = "evaluate.metrics";
  const Choices choices = metrics::metric_names();
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    if (value.kind == Yaml::Kind::scalar && value.text == "all") {
      o.evaluate.metrics = choices;
      return;
    }
    const std::vector<Yaml> one{value};
    const std::vector<Yaml>& items = value.kind == Yaml::Kind::scalar ? one : value.items;
    if (items.empty()) wrong(value, path, "all, or a list of " + join(choices, ", "));
    o.evaluate.metrics.clear();
    for (const Yaml& item : items) {
      const std::string metric = read_choice(item, path, choices);
      if (std::find(o.evaluate.metrics.begin(), o.evaluate.metrics.end(), metric) != o.evaluate.metrics.end())
        fail(Exit::usage, "{}: {}: '{}' is listed twice", item.where, path, metric);
      o.evaluate.metrics.push_back(metric);
    }
    if (o.evaluate.metrics.end() == std::find(o.evaluate.metrics.begin(), o.evaluate.metrics.end(), "dice"))
      fail(Exit::usage, "{}: {}: must include 'dice', which tables and plots need", value.where, path);
  };
  Json list = allowed::set_of(allowed::choice(choices));
  list["contains"] = {{"const", "dice"}};
  return {path,
          "all | a list of " + join(choices, ", "),
          "Metrics to compute",
          read,
          [](const pipeline::Experiment& o) { return "[" + join(o.evaluate.metrics, ", ") + "]"; },
          Key::Shape::value,
          allowed::any_of({allowed::choice({"all", "dice"}), list})};
}

}  // namespace voxswap::experiments::value_types
