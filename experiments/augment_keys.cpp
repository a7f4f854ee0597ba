#include "base/error.h"
#include "experiments/keys.h"
#include "experiments/value_types.h"

#define AT(member)                    \
  [](auto& o) -> auto& {              \
    return o.training.augment.member; \
  }

namespace voxswap::experiments {

namespace {

using namespace value_types;

const std::string section = "training.augment.";

Key preset() {
  const std::string path = section + "preset";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const std::string name = read_choice(value, path, {"none", "nnunet"});
    o.training.augment = name == "nnunet" ? data::nnunet_augmentation() : data::AugmentOptions{};
  };
  return {path,
          "none | nnunet",
          "Augmentation preset (short form: \"augment: nnunet\")",
          read,
          [](const pipeline::Experiment& o) { return o.training.augment.preset; },
          Key::Shape::value,
          allowed::choice({"none", "nnunet"})};
}

Key flip() {
  const std::string path = section + "flip", expected = "a probability, or one per axis as [x, y, z]";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    auto& flips = o.training.augment.flip;
    if (value.kind == Yaml::Kind::scalar) return flips.fill(read_number(value, path, {0, 1}));
    if (value.kind != Yaml::Kind::list || value.items.size() != 3) wrong(value, path, expected);
    for (std::size_t axis = 0; axis < 3; ++axis) flips[axis] = read_number(value.items[axis], path, {0, 1});
  };
  const auto print = [](const pipeline::Experiment& o) {
    const auto& [x, y, z] = o.training.augment.flip;
    return x == y && y == z ? number(x) : format("[{}, {}, {}]", number(x), number(y), number(z));
  };
  return {path,
          expected,
          "Probability of a flip, per axis or for all (without symmetries)",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::number({0, 1}), allowed::list_of(allowed::number({0, 1}), 3, 3)})};
}

// How a single number a is interpreted as a range.
enum class Short { around_zero, up_to, around_one, down_to };

data::Draw range_of(Short how, double a) {
  switch (how) {
    case Short::around_zero:
      return {-a, a, 1};
    case Short::up_to:
      return {0, a, 1};
    case Short::around_one:
      return {1 - a, 1 + a, 1};
    default:
      return {1 - a, 1, 1};
  }
}

const char* text_of(Short how) {
  switch (how) {
    case Short::around_zero:
      return "[-a, a]";
    case Short::up_to:
      return "[0, a]";
    case Short::around_one:
      return "[1-a, 1+a]";
    default:
      return "[1-a, 1]";
  }
}

void read_range(const Yaml& value, const std::string& path, const Range& bounds, data::Draw& draw) {
  if (value.kind != Yaml::Kind::list || value.items.size() != 2)
    wrong(value, path, "two numbers, [least, most]");
  draw.low = read_number(value.items[0], path, bounds);
  draw.high = read_number(value.items[1], path, bounds);
  if (draw.low > draw.high) wrong(value, path, "[least, most] in this order");
}

// 0, a number for every sample, or a map. Entries missing in the map keep the preset's value.
template <class Field>
Key draw(const std::string& name, const std::string& meaning, Short how, Range bounds, Field field) {
  const std::string path = section + name;
  const std::string expected =
      format("0, a number a for {}, or {{range: [least, most], probability: p}}", text_of(how));
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    data::Draw& draw = field(o);
    if (value.kind == Yaml::Kind::scalar) {
      const double a = read_number(value, path, {0, any_size});
      draw = a == 0 ? data::Draw{} : range_of(how, a);
      if (a > 0)
        for (const double end : {draw.low, draw.high})
          if (end < bounds.lowest || end > bounds.highest || (bounds.without_lowest && end == bounds.lowest))
            fail(Exit::usage, "{}: {}: {} means the range [{}, {}], which must be within {} and {}",
                 value.where, path, number(a), number(draw.low), number(draw.high), number(bounds.lowest),
                 number(bounds.highest));
      return;
    }
    if (value.kind != Yaml::Kind::map || value.entries.empty()) wrong(value, path, expected);
    for (const auto& [entry, content] : value.entries)
      if (entry != "range" && entry != "probability")
        fail(Exit::usage, "{}: unknown key '{}.{}'. It has range, probability", content.where, path, entry);
    const Yaml *range = value.find("range"), *probability = value.find("probability");
    if (range == nullptr && draw.probability == 0) wrong(value, path, expected);
    if (range != nullptr) {
      read_range(*range, path + ".range", bounds, draw);
      draw.probability = 1;
    }
    if (probability != nullptr) draw.probability = read_number(*probability, path + ".probability", {0, 1});
  };
  const auto print = [=](const pipeline::Experiment& o) {
    const data::Draw& draw = field(o);
    if (draw.probability == 0) return std::string("0");
    return format("{{range: [{}, {}], probability: {}}}", number(draw.low), number(draw.high),
                  number(draw.probability));
  };
  const Json map = allowed::record(
      {{"range", allowed::list_of(allowed::number(bounds), 2, 2)}, {"probability", allowed::number({0, 1})}},
      {}, 1);
  return {path,
          expected,
          meaning + ", from " + text_of(how),
          read,
          print,
          Key::Shape::map,
          allowed::any_of({allowed::number({0, any_size}), map})};
}

}  // namespace

std::vector<Key> augment_keys() {
  std::vector<Key> table;
  table.push_back(preset());
  table.push_back(on_off(section + "symmetries", "Random symmetry of the cube (48 rotations and reflections)",
                         AT(symmetries)));
  table.push_back(flip());
  table.push_back(
      draw("rotation", "Rotation about each axis in degrees", Short::around_zero, {-180, 180}, AT(rotation)));
  table.push_back(real(section + "scale", "Scale factor per axis, drawn from N(1, a)", AT(scale), {0, 1}));
  table.push_back(draw("zoom", "Scale factor of all axes", Short::around_one, {0.1, 10}, AT(zoom)));
  table.push_back(draw("elastic", "Elastic deformation in mm", Short::up_to, {0, 1000}, AT(elastic)));
  table.push_back(real(section + "elastic_grid", "Distance between control points of elastic in mm",
                       AT(elastic_grid), {1, 1000}));
  table.push_back(draw("noise", "Standard deviation of Gaussian noise on normalized images", Short::up_to,
                       {0, 100}, AT(noise)));
  table.push_back(
      draw("blur", "Standard deviation of a Gaussian blur in voxels", Short::up_to, {0, 20}, AT(blur)));
  table.push_back(real(section + "intensity",
                       "Standard deviation of a random intensity scale and shift, per channel", AT(intensity),
                       {0, 1}));
  table.push_back(
      draw("brightness", "Brightness factor per channel", Short::around_one, {0, 100}, AT(brightness)));
  table.push_back(draw("contrast", "Contrast factor per channel", Short::around_one, {0, 100}, AT(contrast)));
  table.push_back(draw("low_resolution", "Zoom factor of simulated low resolution", Short::down_to,
                       {0, 1, true}, AT(low_resolution)));
  table.push_back(draw("inverted_gamma", "Gamma exponent on the inverted image", Short::around_one,
                       {0, 10, true}, AT(inverted_gamma)));
  table.push_back(draw("gamma", "Gamma exponent", Short::around_one, {0, 10, true}, AT(gamma)));
  table.push_back(real(section + "channel_dropout",
                       "Probability of setting a channel to 0 (never all channels)", AT(channel_dropout),
                       {0, 1, false, true}));
  return table;
}

}  // namespace voxswap::experiments

#undef AT
