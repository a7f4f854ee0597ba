// The table of networks, the checks common to all of them, and initial values of parameters.

#include "net/networks/networks.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/keys.h"
#include "base/philox.h"
#include "base/text.h"
#include "net/graph/operation.h"
#include "net/networks/builder.h"

namespace voxswap::net {

namespace {

const std::vector<const Network*>& networks() {
  static const std::vector<const Network*> table = {
      &isensee2017(), &unet3d(),    &plain_unet(), &resenc_unet(), &resnet3d(), &resnet18(),
      &resnet50(),    &resnet101(), &resnet152(),  &resnet(),      &deeplabv3()};
  return table;
}

const Network& find_network(const std::string& name) {
  for (const Network* network : networks())
    if (network->name == name) return *network;
  const std::string near = nearest(name, network_names());
  fail(Exit::usage, "{}: expected one of {}, found '{}'{}", key::network_name, join(network_names(), ", "),
       name, near.empty() ? std::string() : format(". Did you mean {}?", near));
}

void check_no_levels(const NetworkOptions& options) {
  const char* const given = !options.kernels.empty()            ? key::network_kernels
                            : !options.strides.empty()          ? key::network_strides
                            : !options.deep_supervision.empty() ? key::training_deep_supervision
                                                                : nullptr;
  if (given != nullptr)
    fail(Exit::usage, "{}: only plain_unet and resenc_unet support it, not {}", given, options.name);
}

void check_options(const NetworkOptions& options, std::int64_t outputs) {
  const auto [least, most] = network_depths(options.name);
  if (options.base_filters < 1 || options.base_filters > 1024)
    fail(Exit::usage, "{}: expected 1 to 1024, found {}", key::network_base_filters, options.base_filters);
  if (options.depth < least || options.depth > most)
    fail(Exit::usage, "{}: {} supports {} to {}, found {}", key::network_depth, options.name, least, most,
         options.depth);
  if (!(options.dropout >= 0 && options.dropout < 1))
    fail(Exit::usage, "{}: expected at least 0 and below 1, found {}", key::network_dropout,
         number(options.dropout));
  if (!(options.slope >= 0 && options.slope <= 1))
    fail(Exit::usage, "{}: expected 0 to 1, found {}", key::network_slope, number(options.slope));
  if (options.max_filters < 1 || options.max_filters > 1024)
    fail(Exit::usage, "{}: expected 1 to 1024, found {}", key::network_max_filters, options.max_filters);
  if (!find_network(options.name).by_level) check_no_levels(options);
  constexpr std::int64_t most_outputs = 65535;  // number of classes that a target of two bytes can hold
  if (outputs < 1 || outputs > most_outputs)
    fail(Exit::usage, "network: expected 1 to {} (labels), found {}", counted(most_outputs, "output channel"),
         outputs);
}

void check_input(const NetworkOptions& options, const Shape& input) {
  if (input.rank() != 5 || input.count() < 1)
    fail(Exit::usage, "network input: expected N,D,H,W,C all at least 1, found {}", input.text());
  if (takes_images(options.name) && input[1] != 1)
    fail(Exit::usage, "{} takes 2D images, found volumes of {}", options.name,
         Shape{input[1], input[2], input[3]}.text());
  const Along multiples = side_multiples(options);
  Shape sides = {input[1], input[2], input[3]}, smaller = sides, larger = sides;
  bool fits = true, has_smaller = true;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t multiple = multiples[static_cast<std::size_t>(2 - axis)];
    smaller[axis] = sides[axis] / multiple * multiple;
    larger[axis] = (sides[axis] + multiple - 1) / multiple * multiple;
    fits = fits && smaller[axis] == sides[axis];
    has_smaller = has_smaller && smaller[axis] > 0;
  }
  if (fits) return;
  fail(Exit::usage, "{} of depth {} needs sides that are multiples of {}, found {}. Use {}{}", options.name,
       options.depth, side_multiples_text(options), sides.text(),
       has_smaller ? smaller.text() + " or " : std::string(), larger.text());
}

Shape with_rows_as_planes(const Shape& image) {
  return {image[0], image[2], 1, image[3], image[4]};
}

// A parameter as a value, and whether any node reads it.
struct Parameter {
  Value value;
  bool read = false;
};

// The parameters of a network, from a temporary training graph, which has all of them.
std::vector<Parameter> parameters_of(const Network& network, const NetworkOptions& options,
                                     const Shape& input, std::int64_t outputs, ElementType activations) {
  Graph graph;
  NetworkBuilder builder(graph, options, activations, /*training=*/true);
  builder.add_image(input, /*voxel_alignment=*/1);
  network.build(builder, builder.image(), outputs);
  std::set<ValueId> read;
  for (const Node& node : graph.nodes()) read.insert(node.inputs.begin(), node.inputs.end());
  std::vector<Parameter> result;
  for (ValueId id : graph.with_role(Role::parameter)) result.push_back({graph.value(id), read.contains(id)});
  return result;
}

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Network* network : networks()) names.push_back(network->name);
  return names;
}

bool has_levels(const std::string& name) {
  return find_network(name).by_level;
}
bool takes_images(const std::string& name) {
  return find_network(name).images;
}
const char* network_meaning(const std::string& name) {
  return find_network(name).meaning;
}

bool classifies_images(const std::string& name) {
  return find_network(name).classifies;
}

bool takes_batch_at_once(const std::string& name) {
  return find_network(name).mixes_samples;
}

Along side_multiples(const NetworkOptions& options) {
  const Network& network = find_network(options.name);
  Along multiples = {1, 1, 1};
  for (std::int64_t level = 1; level < options.depth; ++level) {
    const Along stride = network.by_level ? level_stride(options, level)
                         : network.halves ? Along{2, 2, 2}
                                          : Along{1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) multiples[axis] *= stride[axis];
  }
  return multiples;
}

std::string side_multiples_text(const NetworkOptions& options) {
  const auto [x, y, z] = side_multiples(options);
  return x == y && y == z ? std::to_string(x) : format("{} along x, {} along y, {} along z", x, y, z);
}

std::pair<std::int64_t, std::int64_t> network_depths(const std::string& name) {
  const Network& network = find_network(name);
  return {network.least_depth, network.most_depth};
}

ForwardGraph build_network(const NetworkOptions& options, const Shape& volumes, std::int64_t outputs,
                           ElementType activations, bool training, std::int64_t voxel_alignment,
                           const std::function<void(Graph&, const std::vector<ValueId>&)>& after_parameters) {
  const Network& network = find_network(options.name);
  check_options(options, outputs);
  network.check(options);
  check_input(options, volumes);
  const Shape input = network.images ? with_rows_as_planes(volumes) : volumes;

  ForwardGraph result;
  for (const auto& [value, read] : parameters_of(network, options, input, outputs, activations)) {
    result.parameters.push_back(result.graph.add_value(value.name, value.shape, value.type, value.role));
    if (read && !is_frozen(options, value.name)) result.trained.push_back(result.parameters.back());
  }
  check_frozen(options, result);
  if (after_parameters) after_parameters(result.graph, result.trained);
  NetworkBuilder builder(result.graph, options, activations, training);
  result.input = builder.add_image(input, voxel_alignment);
  result.logits = network.build(builder, builder.image(), outputs);
  result.lower_logits.assign(builder.lower_logits.rbegin(), builder.lower_logits.rend());
  return result;
}

ForwardGraph build_network(const NetworkOptions& options, const Shape& volumes, std::int64_t outputs,
                           ElementType activations, bool training, std::int64_t voxel_alignment) {
  return build_network(options, volumes, outputs, activations, training, voxel_alignment, nullptr);
}

std::int64_t parameter_count(const Graph& graph) {
  std::int64_t count = 0;
  for (ValueId id : graph.with_role(Role::parameter)) count += graph.value(id).shape.count();
  return count;
}

// Weights: Glorot & Bengio 2010, uniform.
std::vector<float> initial_value(const Graph& graph, ValueId parameter, std::size_t position,
                                 std::uint64_t seed) {
  const Value& value = graph.value(parameter);
  assert(value.role == Role::parameter);
  const bool scales = value.shape.rank() == 1 && ends_with(value.name, ".weight");
  const float constant = scales || ends_with(value.name, ".running_var") ? 1.0f : 0.0f;
  std::vector<float> result(static_cast<std::size_t>(value.shape.count()), constant);
  if (value.shape.rank() != 5) return result;
  const std::int64_t kernel = value.shape[2] * value.shape[3] * value.shape[4];
  const double fans = static_cast<double>((value.shape[0] + value.shape[1]) * kernel);
  const double limit = std::sqrt(6 / fans);
  const Philox random(seed, position, 77);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(limit * (2.0 * random.uniform(i) - 1));
  return result;
}

}  // namespace voxswap::net
