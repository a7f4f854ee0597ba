#include "pipeline/cases/sample_graph.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "net/backends/backends.h"
#include "net/graph/drawn_numbers.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

namespace {

using data::IntensityChange;

// An operation that changes intensities: whether the options may draw it, and its numbers.
struct IntensityOperation {
  const char* name;
  bool (*may_be_drawn)(const data::AugmentOptions& options);
  void (*set_numbers)(double* numbers, const IntensityChange& change);
  net::Attributes attributes{};
};

// In the order of IntensityChange.
const std::vector<IntensityOperation>& intensity_operations() {
  using Options = data::AugmentOptions;
  namespace drawn = net::drawn;
  static const std::vector<IntensityOperation> operations{
      {"add_noise", [](const Options& o) { return o.noise.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::noise] = c.noise; }},
      {"gaussian_blur", [](const Options& o) { return o.blur.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::blur] = c.blur; }},
      {"scale_and_shift", [](const Options& o) { return o.brightness.probability > 0 || o.intensity > 0; },
       [](double* n, const IntensityChange& c) {
         n[drawn::brightness] = c.brightness, n[drawn::shift] = c.shift;
       }},
      {"change_contrast", [](const Options& o) { return o.contrast.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::contrast] = c.contrast; }},
      {"lower_resolution", [](const Options& o) { return o.low_resolution.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::low_resolution] = c.low_resolution; }},
      {"change_gamma",
       [](const Options& o) { return o.inverted_gamma.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::inverted_gamma] = c.inverted_gamma; },
       {{"inverted", 1}}},
      {"change_gamma", [](const Options& o) { return o.gamma.probability > 0; },
       [](double* n, const IntensityChange& c) { n[drawn::gamma] = c.gamma; }}};
  return operations;
}

std::vector<double> space_numbers(const data::SpatialMap& map, const Size3& whole, const Size3& start,
                                  std::int64_t first) {
  std::vector<double> numbers(net::drawn::space_numbers, 0.0);
  numbers[net::drawn::memory] = static_cast<double>(first);
  const auto at = [&](int number, std::size_t i) -> double& {
    return numbers[static_cast<std::size_t>(number) + i];
  };
  for (std::size_t k = 0; k < 3; ++k) {
    at(net::drawn::sides, k) = static_cast<double>(whole[k]);
    at(net::drawn::start, k) = static_cast<double>(start[k]);
    at(net::drawn::offset, k) = map.offset[k];
    for (std::size_t j = 0; j < 3; ++j) {
      at(net::drawn::index, 3 * k + j) = map.index[k][j];
      at(net::drawn::along, 3 * k + j) = map.along[k][j];
    }
    if (map.elastic.empty()) continue;
    at(net::drawn::grid_step, k) = map.spacing[k] / map.elastic[0].scale();
    at(net::drawn::controls, k) = static_cast<double>(map.elastic[0].nodes()[k]);
  }
  return numbers;
}

// Copies the image, and returns the labels.
std::vector<std::int16_t> unchanged(const data::NormalizedCase& whole, const VoxelBox& box,
                                    std::span<float> to) {
  if (box == VoxelBox{{0, 0, 0}, whole.size}) {
    std::copy(whole.image.begin(), whole.image.end(), to.begin());
    return whole.truth;
  }
  data::NormalizedCase part = cut_case(whole, box);
  std::copy(part.image.begin(), part.image.end(), to.begin());
  return std::move(part.truth);
}

bool is_inside(const VoxelBox& box, const Size3& size) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (box.start[axis] < 0 || box.end()[axis] > size[axis]) return false;
  return true;
}

std::vector<double> channel_numbers(const data::Augmentation& augmentation, std::size_t channels) {
  std::vector<double> numbers(channels * net::drawn::channel_numbers);
  for (std::size_t c = 0; c < channels; ++c) {
    double* const row = numbers.data() + c * net::drawn::channel_numbers;
    const bool dropped = c < augmentation.dropped.size() && augmentation.dropped[c];
    const IntensityChange change =
        c < augmentation.channels.size() && !dropped ? augmentation.channels[c] : IntensityChange();
    row[net::drawn::kept] = dropped ? 0 : 1;
    net::drawn::set_noise(row, data::noise_of(augmentation, c));
    for (const IntensityOperation& operation : intensity_operations()) operation.set_numbers(row, change);
  }
  return numbers;
}

}  // namespace

SampleNodes sample_nodes(const SampleShape& shape, std::int64_t voxels, std::int64_t controls) {
  SampleNodes nodes;
  net::Graph& graph = nodes.graph;
  const auto input = [&](const char* name, Shape sides, net::ElementType type) {
    return graph.add_value(name, std::move(sides), type, net::Role::input);
  };
  nodes.image = input("image", {voxels, shape.channels}, net::ElementType::f32);
  nodes.labels = input("labels", {voxels, 2}, net::ElementType::u8);
  nodes.space = input("space", {net::drawn::space_numbers}, net::ElementType::f64);
  nodes.channels = input("channels", {shape.channels, net::drawn::channel_numbers}, net::ElementType::f64);
  std::vector<net::ValueId> of_image{nodes.image, nodes.space, nodes.channels},
      of_labels{nodes.labels, nodes.space};
  if (controls > 0) {
    nodes.controls = input("controls", {3, controls}, net::ElementType::f32);
    of_image.push_back(nodes.controls);
    of_labels.push_back(nodes.controls);
  }
  net::Attributes sides{
      {"d", double(shape.size[2])}, {"h", double(shape.size[1])}, {"w", double(shape.size[0])}};
  nodes.mapped_labels = graph.apply("spatial_map_labels", "spatial_map_labels", of_labels, sides);
  if (shape.target_bytes > 0) {
    nodes.table = input("table", {std::int64_t{1} << 16, shape.target_bytes}, net::ElementType::u8);
    nodes.always = input("always", {shape.target_bytes}, net::ElementType::u8);
    nodes.target =
        graph.apply("encode_labels", "encode_labels", {nodes.mapped_labels, nodes.table, nodes.always});
  }
  std::vector<const IntensityOperation*> changes;
  for (const IntensityOperation& operation : intensity_operations())
    if (operation.may_be_drawn(shape.options)) changes.push_back(&operation);
  sides.set("apart", changes.empty() ? 0 : 1);
  net::ValueId& result = nodes.result;
  nodes.mapped = result = graph.apply("spatial_map", "spatial_map", of_image, sides);
  for (const IntensityOperation* change : changes)
    result = graph.apply(change->name, change->name, {result, nodes.channels}, change->attributes);
  if (!changes.empty()) result = graph.apply("channels_together", "channels_together", {result});
  if (shape.type != net::ElementType::f32)
    result = graph.apply("cast", "cast", {result}, {{"type", double(static_cast<int>(shape.type))}});
  return nodes;
}

std::int64_t sample_bytes(const SampleShape& shape, std::int64_t batch_size) {
  const SampleNodes nodes = sample_nodes(shape, voxels_in(shape.size), 0);
  const auto bytes = [&](net::ValueId id) { return id == net::none ? 0 : nodes.graph.value(id).bytes(); };
  std::int64_t sum = bytes(nodes.image) + bytes(nodes.labels) + bytes(nodes.table) +
                     batch_size * (bytes(nodes.result) + bytes(nodes.target));
  for (const net::Node& node : nodes.graph.nodes())
    if (node.operation->in_place.empty()) sum += bytes(node.outputs[0]);
  return sum + bytes(nodes.mapped);
}

SampleNumbers sample_numbers(const data::Augmentation& drawn, const data::NormalizedCase& whole,
                             const VoxelBox& box, std::int64_t first) {
  const data::SpatialMap map = data::map_of(drawn, box.size, whole.spacing);
  SampleNumbers numbers{space_numbers(map, whole.size, box.start, first),
                        channel_numbers(drawn, static_cast<std::size_t>(whole.channels)),
                        {}};
  for (const data::SmoothField& axis : map.elastic)
    numbers.controls.insert(numbers.controls.end(), axis.coefficients().begin(), axis.coefficients().end());
  return numbers;
}

void place_controls(const SampleNumbers& numbers, std::int64_t each, float* to) {
  const std::size_t count = numbers.controls.size() / 3;
  for (std::size_t axis = 0; axis < 3; ++axis)
    std::copy_n(numbers.controls.data() + axis * count, count, to + static_cast<std::int64_t>(axis) * each);
}

struct SampleGraph::State {
  SampleShape shape;
  std::unique_ptr<net::Backend> backend = net::make_onednn_backend();

  SampleNodes nodes{};
  std::int64_t most_voxels = 0, most_controls = 0;  // of the graph's cases and deformations
  std::vector<std::unique_ptr<net::Kernel>> kernels{};
  std::unique_ptr<net::Memory> workspace{};
  std::vector<float> apart{};  // the channels after the map; reused, since such memory is slow to allocate

  // With room for cases of this many voxels, and this many control points.
  void build(std::int64_t voxels, std::int64_t controls) {
    most_voxels = voxels;
    most_controls = controls;
    nodes = sample_nodes(shape, voxels, controls);
    kernels.clear();
    std::int64_t bytes = 0;
    for (const net::Node& node : nodes.graph.nodes()) {
      kernels.push_back(backend->compile(nodes.graph, node));
      bytes = std::max(bytes, kernels.back()->workspace_bytes());
    }
    workspace = backend->allocate(bytes);
  }

  void run(std::vector<void*>& places, bool with_labels) const {
    const net::StepContext context;
    const net::OneCore one_core;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const net::Node& node = nodes.graph.nodes()[i];
      if (node.inputs[0] == nodes.labels && !with_labels) continue;
      std::vector<void*> inputs;
      for (const net::ValueId id : node.inputs) inputs.push_back(places[static_cast<std::size_t>(id)]);
      void*& to = places[static_cast<std::size_t>(node.outputs[0])];
      if (to == nullptr) to = inputs[0];  // changes of intensities overwrite their input
      kernels[i]->run({inputs, {&to, 1}, {}, workspace->data(), &context});
    }
  }
};

SampleGraph::SampleGraph(const data::AugmentOptions& options, const Size3& size, std::int64_t channels)
    : state_(std::make_unique<State>(State{{options, size, channels}})) {
  state_->build(voxels_in(size), 0);
}
SampleGraph::~SampleGraph() = default;
SampleGraph::SampleGraph(SampleGraph&&) noexcept = default;
SampleGraph& SampleGraph::operator=(SampleGraph&&) noexcept = default;

bool SampleGraph::suits(const data::AugmentOptions& options, const Size3& size, std::int64_t channels) const {
  return state_->shape == SampleShape{options, size, channels};
}

data::NormalizedCase SampleGraph::make(const data::Augmentation& drawn, const data::NormalizedCase& whole,
                                       const VoxelBox& box) {
  data::NormalizedCase part{box.size, whole.spacing, whole.channels, {}, {}, whole.background};
  part.image.resize(static_cast<std::size_t>(voxels_in(box.size) * whole.channels));
  part.truth = make(drawn, whole, box, part.image);
  return part;
}

std::vector<std::int16_t> SampleGraph::make(const data::Augmentation& augmentation,
                                            const data::NormalizedCase& given, const VoxelBox& box,
                                            std::span<float> to) {
  State& state = *state_;
  assert(box.size == state.shape.size && given.channels == state.shape.channels);
  if (data::changes_nothing(augmentation)) return unchanged(given, box, to);
  if (!is_inside(box, given.size)) return make(augmentation, cut_case(given, box), {{0, 0, 0}, box.size}, to);
  SampleNumbers numbers = sample_numbers(augmentation, given, box);
  const std::int64_t voxels = voxels_in(given.size), needed = std::ssize(numbers.controls) / 3;
  if (voxels > state.most_voxels || needed > state.most_controls)
    state.build(std::max(voxels, state.most_voxels), std::max(needed, state.most_controls));
  std::vector<float> controls(static_cast<std::size_t>(3 * state.most_controls));
  place_controls(numbers, state.most_controls, controls.data());

  const SampleNodes& nodes = state.nodes;
  assert(static_cast<std::int64_t>(to.size()) == nodes.graph.value(nodes.mapped).shape.count());
  std::vector<std::int16_t> truth(given.truth.empty() ? 0
                                                      : to.size() / static_cast<std::size_t>(given.channels));
  // These kernels load and store single voxels or unaligned vectors, so the cases' own memory will do.
  std::vector<void*> places(nodes.graph.values().size(), nullptr);
  const auto place = [&](net::ValueId id) -> void*& { return places[static_cast<std::size_t>(id)]; };
  place(nodes.image) = const_cast<float*>(given.image.data());  // inputs are read only
  place(nodes.labels) = const_cast<std::int16_t*>(given.truth.data());
  place(nodes.space) = numbers.space.data();
  place(nodes.channels) = numbers.channels.data();
  if (nodes.controls != net::none) place(nodes.controls) = controls.data();
  place(nodes.mapped_labels) = truth.data();
  if (nodes.mapped != nodes.result) {
    state.apart.resize(to.size());
    place(nodes.mapped) = state.apart.data();
  }
  place(nodes.result) = to.data();
  state.run(places, !given.truth.empty());
  return truth;
}

std::vector<std::int16_t> SampleGraphs::make(const data::AugmentOptions& options,
                                             const data::Augmentation& drawn,
                                             const data::NormalizedCase& whole, const VoxelBox& box,
                                             std::span<float> image) {
  if (data::changes_nothing(drawn)) return unchanged(whole, box, image);
  std::unique_lock lock(mutex_);
  const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const SampleGraph& one) {
    return one.suits(options, box.size, whole.channels);
  });
  SampleGraph own = found != idle_.end() ? std::move(*found) : SampleGraph(options, box.size, whole.channels);
  if (found != idle_.end()) idle_.erase(found);
  lock.unlock();
  std::vector<std::int16_t> truth = own.make(drawn, whole, box, image);
  lock.lock();
  idle_.push_back(std::move(own));
  return truth;
}

}  // namespace voxswap::pipeline
