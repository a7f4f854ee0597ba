#include "pipeline/device/device_samples.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "net/graph/drawn_numbers.h"
#include "net/graph/operation.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

namespace {

// Places in a block of memory, one after the other.
struct Layout {
  std::int64_t bytes = 0;
  std::int64_t take(std::int64_t wanted) {
    return std::exchange(bytes, bytes + (wanted + slab_alignment - 1) / slab_alignment * slab_alignment);
  }
};

// The voxels of cases, then their labels, in one block. The first case is a box of a case that is not held.
class CaseMemory {
 public:
  CaseMemory(std::int64_t channels, std::int64_t box_voxels)
      : channels_(channels), box_voxels_(box_voxels), used_(box_voxels) {}

  std::int64_t voxel_bytes() const { return 4 * channels_ + label_bytes; }
  std::int64_t box_voxels() const { return box_voxels_; }
  std::int64_t box_bytes() const { return (box_voxels_ + 1) * voxel_bytes(); }
  // Room for the box, and for cases of this many voxels in total. An even number, so that labels are aligned.
  std::int64_t bytes_for(std::int64_t voxels) {
    voxels_ = (box_voxels_ + voxels + 1) / 2 * 2;
    return voxels_ * voxel_bytes();
  }
  std::int64_t voxels() const { return voxels_; }
  void use(std::unique_ptr<net::Memory> block) { block_ = std::move(block); }

  std::byte* image() const { return block_->data(); }
  std::byte* labels() const { return block_->data() + 4 * channels_ * voxels_; }

  // The number of the case's first voxel, if it is held.
  std::optional<std::int64_t> find(std::size_t index) const {
    const auto found = first_.find(index);
    return found == first_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::int64_t> add(std::size_t index, std::int64_t voxels) {
    if (used_ + voxels > voxels_) return std::nullopt;
    first_.emplace(index, used_);
    return std::exchange(used_, used_ + voxels);
  }
  // Copies a case to its place.
  void put(net::Stream& stream, std::int64_t first, std::span<const float> voxels,
           std::span<const std::int16_t> labels) const {
    stream.copy(image() + 4 * channels_ * first, voxels.data(),
                static_cast<std::int64_t>(voxels.size_bytes()));
    stream.copy(this->labels() + label_bytes * first, labels.data(),
                static_cast<std::int64_t>(labels.size_bytes()));
  }

 private:
  static constexpr std::int64_t label_bytes = sizeof(std::int16_t);
  std::int64_t channels_, box_voxels_, used_, voxels_ = 0;
  std::unique_ptr<net::Memory> block_;
  std::map<std::size_t, std::int64_t> first_;
};

// The numbers of a sample: their places in bytes, in a block that is copied to the device.
struct NumbersLayout {
  std::int64_t space, channels, controls, always, bytes;

  NumbersLayout(const SampleShape& shape, std::int64_t most_controls, std::int64_t always_bytes) {
    Layout layout;
    space = layout.take(net::drawn::space_numbers * 8);
    channels = layout.take(shape.channels * net::drawn::channel_numbers * 8);
    controls = layout.take(3 * most_controls * 4);
    always = layout.take(always_bytes);
    bytes = layout.bytes;
  }
};

// A kernel and the memory that it works on.
struct Launch {
  net::Kernel* kernel;
  std::vector<void*> inputs;
  std::array<void*, 1> output;
};

}  // namespace

struct DeviceSamples::State {
  net::Backend& backend;
  SampleShape shape;
  std::vector<InputSlab> image, target;
  std::vector<std::uint8_t> table;
  std::int64_t samples;       // of a batch
  std::int64_t always_bytes;  // room for the target of a voxel, or of an image
  CaseMemory cases;
  bool on_device = true;  // otherwise all memory is pinned
  std::int64_t most_controls = 0;

  SampleNodes nodes{};
  std::vector<std::unique_ptr<net::Kernel>> kernels{};
  std::vector<std::int64_t> places{};                         // of each value that a node makes, in `own`
  std::vector<std::int64_t> image_places{}, target_places{};  // of the slabs, in `own` or `streamed`
  std::int64_t work = 0, table_place = 0, drawn = 0;          // of workspaces, the table and numbers
  std::unique_ptr<net::Memory> own{}, numbers{}, boxes{};     // the last two: pinned, sources of copies
  // Slabs that a step streams stay on the host. The previous batch is read during the step, so there are two.
  std::array<std::unique_ptr<net::Memory>, 2> streamed{};
  std::size_t turn = 0;                         // of `streamed`, for the next batch
  std::vector<std::vector<Launch>> launches{};  // of each sample
  net::StepContext context{};
  std::int64_t device_bytes = 0;
  std::unique_ptr<net::Stream> stream{};  // last: destroyed first, which drains it

  NumbersLayout numbers_layout() const { return {shape, most_controls, always_bytes}; }
  std::byte* at(std::int64_t place) const { return own->data() + place; }
  std::byte* slab_at(const InputSlab& slab, std::int64_t place) const {
    return slab.streams ? streamed[turn]->data() + place : at(place);
  }

  // Compiles the nodes and finds places for all values. Returns the bytes of `own`.
  std::int64_t lay_out() {
    nodes = sample_nodes(shape, cases.voxels(), most_controls);
    kernels.clear();
    places.assign(nodes.graph.values().size(), -1);
    Layout layout, on_host;
    std::int64_t working = 0;
    for (const net::Node& node : nodes.graph.nodes()) {
      kernels.push_back(backend.compile(nodes.graph, node));
      working = std::max(working, kernels.back()->workspace_bytes());
      const std::int64_t input = places[static_cast<std::size_t>(node.inputs[0])];
      const bool over = input >= 0 && !node.operation->in_place.empty();
      places[static_cast<std::size_t>(node.outputs[0])] =
          over ? input : layout.take(nodes.graph.value(node.outputs[0]).bytes());
    }
    work = layout.take(working);
    table_place = layout.take(std::ssize(table));
    drawn = layout.take(samples * numbers_layout().bytes);
    for (auto& [slabs, found] : {std::pair{&image, &image_places}, {&target, &target_places}}) {
      found->clear();
      for (const InputSlab& slab : *slabs)
        found->push_back((slab.streams ? on_host : layout).take(slab.value.bytes()));
    }
    for (std::unique_ptr<net::Memory>& block : streamed)
      if (on_host.bytes > 0 && !block) block = backend.allocate_host(on_host.bytes);
    return layout.bytes;
  }

  std::unique_ptr<net::Memory> allocate(std::int64_t bytes) {
    if (!on_device) return backend.allocate_host(bytes);
    device_bytes += bytes;
    return backend.allocate(bytes);
  }

  // Takes memory for a batch, and the launches that make it.
  void prepare(std::int64_t bytes) {
    device_bytes -= own && on_device ? own->bytes() : 0;
    own.reset();
    own = allocate(bytes);
    const NumbersLayout each = numbers_layout();
    numbers = backend.allocate_host(samples * each.bytes);
    stream->copy(at(table_place), table.data(), std::ssize(table));
    stream->synchronize();
    launches.clear();
    for (std::int64_t i = 0; i < samples; ++i)
      launches.push_back(launches_of(at(drawn + i * each.bytes), each));
  }

  std::vector<Launch> launches_of(std::byte* numbers_of_sample, const NumbersLayout& each) const {
    std::vector<Launch> result;
    const auto address = [&](net::ValueId id) -> void* {
      if (id == nodes.image) return cases.image();
      if (id == nodes.labels) return cases.labels();
      if (id == nodes.space) return numbers_of_sample + each.space;
      if (id == nodes.channels) return numbers_of_sample + each.channels;
      if (id == nodes.controls) return numbers_of_sample + each.controls;
      if (id == nodes.always) return numbers_of_sample + each.always;
      if (id == nodes.table) return at(table_place);
      return at(places[static_cast<std::size_t>(id)]);
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const net::Node& node = nodes.graph.nodes()[i];
      if (node.outputs[0] == nodes.mapped_labels && nodes.target == net::none) continue;  // not needed
      Launch launch{kernels[i].get(), {}, {address(node.outputs[0])}};
      for (const net::ValueId id : node.inputs) launch.inputs.push_back(address(id));
      result.push_back(std::move(launch));
    }
    return result;
  }

  // The numbers of sample i. If its case is not held, its box waits in pinned memory.
  SampleNumbers numbers_of(const DrawnSample& sample, std::int64_t i) {
    if (const std::optional<std::int64_t> first = cases.find(sample.case_index))
      return sample_numbers(sample.changes, *sample.from, sample.box, *first);
    const data::NormalizedCase part = cut_case(*sample.from, sample.box);
    if (!boxes) boxes = backend.allocate_host(samples * cases.box_bytes());
    std::copy(part.image.begin(), part.image.end(), waiting_voxels(i).begin());
    std::copy(part.truth.begin(), part.truth.end(), waiting_labels(i).begin());
    return sample_numbers(sample.changes, part, {{0, 0, 0}, sample.box.size});
  }
  std::span<float> waiting_voxels(std::int64_t i) const {
    return {reinterpret_cast<float*>(boxes->data() + i * cases.box_bytes()),
            static_cast<std::size_t>(cases.box_voxels() * shape.channels)};
  }
  std::span<std::int16_t> waiting_labels(std::int64_t i) const {
    return {reinterpret_cast<std::int16_t*>(waiting_voxels(i).data() + waiting_voxels(i).size()),
            static_cast<std::size_t>(cases.box_voxels())};
  }

  // Copies the numbers of all samples to the device.
  void upload(const std::vector<SampleNumbers>& all, std::span<const DrawnSample> batch) {
    const auto count = [](const SampleNumbers& one) { return std::ssize(one.controls) / 3; };
    const std::int64_t needed = count(*std::max_element(
        all.begin(), all.end(), [&](const auto& a, const auto& b) { return count(a) < count(b); }));
    if (needed > most_controls) {
      most_controls = needed;
      prepare(lay_out());
    }
    const NumbersLayout each = numbers_layout();
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::byte* const to = numbers->data() + static_cast<std::int64_t>(i) * each.bytes;
      const auto put = [to](std::int64_t place, const auto& values) {
        std::memcpy(to + place, values.data(), values.size() * sizeof(values[0]));
      };
      put(each.space, all[i].space);
      put(each.channels, all[i].channels);
      put(each.always, batch[i].always);
      place_controls(all[i], most_controls, reinterpret_cast<float*>(to + each.controls));
    }
    stream->copy(at(drawn), numbers->data(), std::ssize(all) * each.bytes);
  }

  // Enqueues what makes sample i.
  void make(std::int64_t i, bool is_held) {
    if (!is_held) cases.put(*stream, 0, waiting_voxels(i), waiting_labels(i));
    for (const Launch& launch : launches[static_cast<std::size_t>(i)])
      stream->launch(*launch.kernel, {launch.inputs, launch.output, {}, at(work), &context});
    copy_planes(i, image, image_places, at(places[static_cast<std::size_t>(nodes.result)]));
    copy_planes(i, target, target_places,
                nodes.target == net::none ? at(drawn + i * numbers_layout().bytes + numbers_layout().always)
                                          : at(places[static_cast<std::size_t>(nodes.target)]));
  }

  // Copies the planes of sample i to their slabs.
  void copy_planes(std::int64_t i, const std::vector<InputSlab>& slabs, const std::vector<std::int64_t>& to,
                   const std::byte* volume) const {
    for (std::size_t s = 0; s < slabs.size(); ++s) {
      const InputSlab& slab = slabs[s];
      const std::int64_t n = i - slab.turn * slab.value.shape[0];
      if (n < 0 || n >= slab.value.shape[0]) continue;
      const std::int64_t bytes = slab.value.bytes() / slab.value.shape[0],
                         plane = bytes / slab.value.shape[1];
      stream->copy(slab_at(slab, to[s]) + n * bytes, volume + slab.first_plane * plane, bytes);
    }
  }
};

DeviceSamples::DeviceSamples(net::Backend& backend, const SampleShape& shape, std::vector<InputSlab> image,
                             std::vector<InputSlab> target, const std::vector<std::uint8_t>& table,
                             const SampleMemory& memory) {
  constexpr std::int64_t of_a_class = 2;  // bytes of the target of an image, at most
  const std::int64_t samples = image[0].value.shape[0] * image[0].turns,
                     always = std::max(shape.target_bytes, of_a_class);
  state_ = std::make_unique<State>(State{backend, shape, std::move(image), std::move(target), table, samples,
                                         always, CaseMemory(shape.channels, voxels_in(shape.size))});
  State& s = *state_;
  s.stream = backend.make_stream();
  s.cases.bytes_for(0);
  const std::int64_t own = s.lay_out(), box = s.cases.box_bytes();
  // At most half of the free memory, since the driver needs some too.
  const std::int64_t room = std::min(memory.spare, backend.free_bytes() / 2) - own - box;
  s.on_device = room >= 0;
  const std::int64_t voxels = s.on_device ? std::min(room, memory.cases) / s.cases.voxel_bytes() : 0;
  s.cases.use(s.allocate(s.cases.bytes_for(voxels)));
  s.prepare(s.lay_out());
}

DeviceSamples::~DeviceSamples() {
  try {
    state_->stream->synchronize();
  } catch (const Error&) {
    // The samples are no longer needed.
  }
}

bool DeviceSamples::hold(std::size_t index, const data::NormalizedCase& whole) {
  State& s = *state_;
  const std::optional<std::int64_t> first = s.cases.add(index, voxels_in(whole.size));
  if (!first) return false;
  s.cases.put(*s.stream, *first, whole.image, whole.truth);
  s.stream->synchronize();
  return true;
}

void DeviceSamples::set_slabs(std::vector<InputSlab> image, std::vector<InputSlab> target) {
  State& s = *state_;
  s.stream->synchronize();
  s.image = std::move(image);
  s.target = std::move(target);
  for (std::unique_ptr<net::Memory>& block : s.streamed) block.reset();
  s.prepare(s.lay_out());
}

void DeviceSamples::begin(std::span<const DrawnSample> batch) {
  State& s = *state_;
  s.stream->synchronize();
  std::vector<SampleNumbers> numbers;
  for (const DrawnSample& sample : batch) numbers.push_back(s.numbers_of(sample, std::ssize(numbers)));
  s.upload(numbers, batch);
  for (std::size_t i = 0; i < batch.size(); ++i)
    s.make(static_cast<std::int64_t>(i), s.cases.find(batch[i].case_index).has_value());
}

void DeviceSamples::wait() {
  state_->stream->synchronize();
}

InputPlaces DeviceSamples::finish() {
  wait();
  State& s = *state_;
  InputPlaces places;
  for (std::size_t i = 0; i < s.image.size(); ++i)
    places.image.push_back(s.slab_at(s.image[i], s.image_places[i]));
  for (std::size_t i = 0; i < s.target.size(); ++i)
    places.target.push_back(s.slab_at(s.target[i], s.target_places[i]));
  s.turn = 1 - s.turn;
  return places;
}

std::int64_t DeviceSamples::device_bytes() const {
  return state_->device_bytes;
}

}  // namespace voxswap::pipeline
