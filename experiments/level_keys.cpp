#include "experiments/keys.h"
#include "experiments/value_types.h"

namespace voxswap::experiments::value_types {

namespace {

net::Along read_axes(const Yaml& value, const std::string& path, const Range& side) {
  if (value.kind != Yaml::Kind::list) {
    const std::int64_t all = read_whole(value, path, side);
    return {all, all, all};
  }
  if (value.items.size() != 3) wrong(value, path, "a whole number or [x, y, z] per level");
  net::Along axes;
  for (std::size_t axis = 0; axis < 3; ++axis) axes[axis] = read_whole(value.items[axis], path, side);
  return axes;
}

template <class Field>
Key of_levels(const std::string& path, const std::string& meaning, Field field, Range side) {
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    field(o).clear();
    if (value.kind == Yaml::Kind::scalar && value.text == "auto") return;
    if (value.kind != Yaml::Kind::list || value.items.empty())
      wrong(value, path, "auto, or a list with a whole number or [x, y, z] for each level");
    for (const Yaml& item : value.items) field(o).push_back(read_axes(item, path, side));
  };
  const Json one = allowed::whole(side);
  return {path,
          "auto | [N or [x, y, z], …]",
          meaning,
          read,
          [=](const pipeline::Experiment& o) { return print_levels(field(o)); },
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto"}),
                           allowed::list_of(allowed::any_of({one, allowed::list_of(one, 3, 3)}), 1)})};
}

}  // namespace

std::string print_levels(const std::vector<net::Along>& levels) {
  std::vector<std::string> words;
  for (const auto& [x, y, z] : levels)
    words.push_back(x == y && y == z ? std::to_string(x) : format("[{}, {}, {}]", x, y, z));
  return words.empty() ? "auto" : "[" + join(words, ", ") + "]";
}

Key deep_supervision() {
  const std::string path = "training.deep_supervision";
  const Range weight{0, 1e6, true, true};
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.network.deep_supervision.clear();
    if (value.kind == Yaml::Kind::scalar && value.text == "none") return;
    if (value.kind != Yaml::Kind::list || value.items.empty())
      wrong(value, path, "none, or a list of weights, finest level first");
    for (const Yaml& item : value.items)
      o.network.deep_supervision.push_back(read_number(item, path, weight));
  };
  const auto print = [](const pipeline::Experiment& o) {
    std::vector<std::string> words;
    for (const double one : o.network.deep_supervision) words.push_back(number(one));
    return words.empty() ? "none" : "[" + join(words, ", ") + "]";
  };
  return {path,
          "none | [1, 0.5, …]",
          "Loss weights per level, finest first (plain_unet, resenc_unet)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"none"}), allowed::list_of(allowed::number(weight), 1)})};
}

std::vector<Key> level_keys() {
  return {of_levels("network.kernels", "Kernel sizes per level, 1 or 3 (plain_unet, resenc_unet)",
                    [](auto& o) -> auto& { return o.network.kernels; }, {1, 3}),
          of_levels("network.strides", "Downsampling factors per level, 1 or 2 (plain_unet, resenc_unet)",
                    [](auto& o) -> auto& { return o.network.strides; }, {1, 2})};
}

}  // namespace voxswap::experiments::value_types
