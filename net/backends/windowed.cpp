#include "net/backends/windowed.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/backends/function_kernel.h"
#include "net/graph/block_sums.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"

namespace voxswap::net {

namespace {

constexpr std::int64_t large_weights = std::int64_t{256} << 10;  // bytes

std::int64_t plane_bytes(const Value& value) {
  return value.shape.count_from(2) * element_bytes(value.type);
}

// A volume in memory: addresses of its samples and planes.
struct Volume {
  std::int64_t plane = 0, sample = 0;  // bytes
  std::byte* at(void* data, std::int64_t n, std::int64_t z) const {
    return static_cast<std::byte*>(data) + n * sample + z * plane;
  }
};
Volume volume_of(const Value& value) {
  return {plane_bytes(value), value.shape[1] * plane_bytes(value)};
}

struct Slab {
  Planes planes;  // within the window; the first slab may begin before it and the last end after it
  std::vector<Volume> volumes;  // one per volume read through the window
};

// Some of the output planes, computed by one inner kernel.
struct Part {
  Planes made, read;  // read: within the window
  Kernel* kernel = nullptr;
  std::size_t slab = 0;  // the slab that contains everything it reads, unless gathered
  bool gathered = false;
};

class WindowedKernel final : public Kernel {
 public:
  WindowedKernel(const Graph& graph, const Node& node, const WindowedTools& tools)
      : inner_(node.operation->inner()),
        copy_(tools.copy),
        slab_(slab_graph(graph, inner_, node.inputs, node.attributes)),
        sums_(inner_.cut.kind == Cut::Kind::windowed_sum) {
    const Window window = window_of(inner_, node.inputs, node.attributes);
    others_ = window.others.size();
    samples_ = graph.value(window.slabs.front().front()).shape[0];
    std::int64_t first = -window.skip;
    for (std::size_t i = 0; i < window.slabs.front().size(); ++i) {
      const std::int64_t planes = graph.value(window.slabs.front()[i]).shape[1];
      slabs_.push_back({{first, first + planes}, {}});
      for (const std::vector<ValueId>& volume : window.slabs)
        slabs_.back().volumes.push_back(volume_of(graph.value(volume[i])));
      first += planes;
    }
    describe_volumes();
    divide(tools.alignment);
    for (Part& part : parts_) compile(part, tools);
    book(tools);
  }
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override {
    return "window of " + std::to_string(slabs_.size()) + ", " + kernels_.begin()->second->implementation();
  }

  void run(const KernelArguments& arguments) override {
    for (std::int64_t n = 0; n < samples_; ++n)
      for (const Part& part : parts_) {
        point(part, n, arguments);
        KernelArguments inner = arguments;
        inner.inputs = inputs_;
        inner.outputs = outputs_;
        inner.workspace = place<std::byte>(arguments, inner_place_);
        part.kernel->run(inner);
        for (std::size_t i = 0; copies_ && !sums_ && i < made_.size(); ++i)
          copy_(made_[i].at(arguments.outputs[i], n, 0), outputs_[i], part.made.count() * made_[i].plane);
        if (is_added(part, n)) add_up(part, arguments);
      }
    for (std::size_t i = 0; i < node_makers_.size(); ++i) add_nodes(i, arguments);
  }

 private:
  const Node& slab_node() const { return slab_.node(0); }
  const Value& slab_value(std::size_t input) const { return slab_.value(slab_node().inputs[input]); }
  std::size_t window_input() const { return static_cast<std::size_t>(inner_.cut.input); }
  std::size_t windows() const { return static_cast<std::size_t>(inner_.cut.windows); }

  void describe_volumes() {
    along_.resize(slab_node().inputs.size());
    if (inner_.cut.along != none)
      along_[static_cast<std::size_t>(inner_.cut.along)] =
          volume_of(slab_value(static_cast<std::size_t>(inner_.cut.along)));
    for (std::size_t i = 0; i < windows(); ++i)
      gathered_.push_back({plane_bytes(slab_value(window_input() + i)), 0});
    for (std::size_t i = 0; !sums_ && i < slab_node().outputs.size(); ++i)
      made_.push_back(volume_of(slab_.value(slab_node().outputs[i])));
    inputs_.resize(slab_node().inputs.size());
    outputs_.resize(slab_node().outputs.size());
  }

  // The slab that contains all of these planes; slabs_.size() if they are in several.
  std::size_t slab_with(Planes read) const {
    for (std::size_t i = 0; i < slabs_.size(); ++i)
      if (slabs_[i].planes.from <= read.from && read.to <= slabs_[i].planes.to) return i;
    return slabs_.size();
  }

  // Divides the output into parts; for sums, each block separately.
  void divide(std::int64_t alignment) {
    const std::int64_t all = planes_made(slab_, slab_node());
    block_ = sums_ ? sum_blocks(slab_node().attributes, all).planes : all;
    const bool starts_anywhere = aligned(alignment);
    for (std::int64_t from = 0; from < all; from += block_)
      divide_block({from, std::min(from + block_, all)}, starts_anywhere);
    copies_ = !starts_anywhere && (samples_ > 1 || parts_.size() > 1);
    for (Part& part : parts_) {
      part.read = inner_.cut.window(slab_, slab_node(), part.made).read;
      part.slab = slab_with(part.read);  // parts of many planes may need more
      part.gathered = copies_ || part.slab == slabs_.size() ||
                      (!starts_anywhere && part.read.from != slabs_[part.slab].planes.from);
    }
  }
  // Consecutive planes that read the same single slab form a part, and so do the planes in between, which
  // read two slabs. Everything is copied instead if few planes read single slabs, if slabs are not aligned as
  // kernels need, or if the window is smaller than large weights, which the kernel of each part would
  // rearrange every time.
  void divide_block(Planes block, bool starts_anywhere) {
    const std::int64_t grain = inner_.cut.grain;
    const std::size_t first = parts_.size();
    std::int64_t direct = 0;
    for (std::int64_t from = block.from; from < block.to; from += grain) {
      const Planes made = {from, std::min(from + grain, block.to)};
      const std::size_t slab = slab_with(inner_.cut.window(slab_, slab_node(), made).read);
      const bool gathered = slab == slabs_.size();
      if (!gathered) direct += made.count();
      if (parts_.size() == first || parts_.back().gathered != gathered || parts_.back().slab != slab)
        parts_.push_back({made, {}, nullptr, slab, gathered});
      parts_.back().made.to = made.to;
    }
    const std::int64_t weights = bytes_read_by_each_part();
    const bool copies_little = !sums_ && weights >= large_weights && bytes_read(block) <= weights;
    if (parts_.size() == first + 1 || (2 * direct >= block.count() && starts_anywhere && !copies_little))
      return;
    parts_.resize(first);
    parts_.push_back({block, {}, nullptr, slabs_.size(), true});
  }
  std::int64_t bytes_read(Planes made) const {
    std::int64_t bytes = 0;
    for (const Volume& volume : gathered_)
      bytes += inner_.cut.window(slab_, slab_node(), made).read.count() * volume.plane;
    return bytes;
  }
  std::int64_t bytes_read_by_each_part() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < along_.size(); ++i)
      if (!inner_.cut.reads_window(i) && along_[i].plane == 0) bytes += slab_value(i).bytes();
    return bytes;
  }
  bool aligned(std::int64_t alignment) const {
    bool result = true;
    for (const std::vector<Volume>* volumes : {&gathered_, &made_, &along_})
      for (const Volume& volume : *volumes) result = result && volume.plane % alignment == 0;
    return result;
  }

  void compile(Part& part, const WindowedTools& tools) {
    const Cut::Window window = inner_.cut.window(slab_, slab_node(), part.made);
    Graph graph;
    std::vector<ValueId> inputs;
    std::string key;
    for (std::size_t i = 0; i < slab_node().inputs.size(); ++i) {
      Value value = slab_value(i);
      if (inner_.cut.reads_window(i) || along_[i].plane > 0) {
        value.shape[0] = 1;
        value.shape[1] = inner_.cut.reads_window(i) ? window.read.count() : part.made.count();
        key += value.shape.text() + " ";
      }
      inputs.push_back(graph.add_value(value.name, value.shape, value.type, value.role));
    }
    const NodeId id = graph.add(inner_.name, slab_node().name, inputs,
                                sums_ ? as_one_block(window.attributes) : window.attributes);
    std::unique_ptr<Kernel>& kernel = kernels_[key + graph.text()];
    if (!kernel) kernel = tools.compile(graph, graph.node(id));
    part.kernel = kernel.get();
  }

  void book(const WindowedTools& tools) {
    std::int64_t inner = 0, gathered = 0;  // planes
    for (const auto& [key, kernel] : kernels_) inner = std::max(inner, kernel->workspace_bytes());
    for (const Part& part : parts_)
      if (part.gathered) gathered = std::max(gathered, part.read.count());
    for (const Volume& volume : gathered_) gather_places_.push_back(plan_.book(gathered * volume.plane));
    if (copies_) {
      const std::int64_t all = planes_made(slab_, slab_node());
      for (const Volume& volume : along_)
        if (volume.plane > 0) along_place_ = plan_.book(all * volume.plane);
      for (const Volume& volume : made_) made_places_.push_back(plan_.book(all * volume.plane));
    }
    for (std::size_t i = 0; sums_ && i < slab_node().outputs.size(); ++i) {
      const Value& value = slab_.value(slab_node().outputs[i]);
      block_bytes_.push_back(value.bytes() / value.shape[0]);
      part_places_.push_back(plan_.book(block_bytes_.back()));
      Shape shape = value.shape;
      shape[0] = 1;
      Graph graph;
      std::vector<ValueId> both;
      for (const char* name : {"sum", "part"})
        both.push_back(graph.add_value(name, shape, value.type, Role::gradient));
      adders_.push_back(tools.compile(graph, graph.node(graph.add("total", "total", both))));
      inner = std::max(inner, adders_.back()->workspace_bytes());
      if (slab_node().attributes.flag("nodes")) inner = std::max(inner, book_nodes(shape, value.type, tools));
    }
    inner_place_ = plan_.book(inner);
  }

  // If the sums are per node of the tree, sums of blocks are first kept in the workspace. Returns the
  // workspace that adding them needs.
  std::int64_t book_nodes(Shape of_block, ElementType type, const WindowedTools& tools) {
    const Attributes& attributes = slab_node().attributes;
    of_block[0] = sum_blocks(attributes, planes_made(slab_, slab_node())).here;
    Graph graph;
    const ValueId blocks = graph.add_value("blocks", of_block, type, Role::gradient);
    const NodeId total =
        graph.add("total", "total", {blocks}, {{"first", attributes.real("first")}, {"apart", 1}});
    block_places_.push_back(plan_.book(graph.value(blocks).bytes()));
    node_makers_.push_back(tools.compile(graph, graph.node(total)));
    return node_makers_.back()->workspace_bytes();
  }

  // Sets inputs and outputs of the inner kernel for a part of sample n.
  void point(const Part& part, std::int64_t n, const KernelArguments& arguments) {
    std::size_t other = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inner_.cut.reads_window(i))
        inputs_[i] = part.gathered ? gather(i - window_input(), part, n, arguments)
                                   : found(i - window_input(), part, n, arguments);
      else if (along_[i].plane > 0)
        inputs_[i] = along(i, part, n, arguments.inputs[other++], arguments);
      else
        inputs_[i] = arguments.inputs[other++];
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!sums_)
        outputs_[i] = copies_ ? place<std::byte>(arguments, made_places_[i])
                              : made_[i].at(arguments.outputs[i], n, part.made.from);
      else
        outputs_[i] =
            is_added(part, n) ? place<std::byte>(arguments, part_places_[i]) : block(part, i, arguments);
    }
  }
  void* along(std::size_t input, const Part& part, std::int64_t n, void* data,
              const KernelArguments& arguments) const {
    std::byte* const found = along_[input].at(data, n, part.made.from);
    if (!copies_) return found;
    auto* to = place<std::byte>(arguments, along_place_);
    copy_(to, found, part.made.count() * along_[input].plane);
    return to;
  }
  void* found(std::size_t volume, const Part& part, std::int64_t n, const KernelArguments& arguments) const {
    const Slab& slab = slabs_[part.slab];
    return slab.volumes[volume].at(given(volume, part.slab, arguments), n, part.read.from - slab.planes.from);
  }
  void* given(std::size_t volume, std::size_t slab, const KernelArguments& arguments) const {
    return arguments.inputs[others_ + volume * slabs_.size() + slab];
  }
  void* gather(std::size_t volume, const Part& part, std::int64_t n, const KernelArguments& arguments) const {
    auto* to = place<std::byte>(arguments, gather_places_[volume]);
    const Volume& gathered = gathered_[volume];
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
      const Slab& slab = slabs_[i];
      const Planes planes = {std::max(part.read.from, slab.planes.from),
                             std::min(part.read.to, slab.planes.to)};
      if (planes.count() <= 0) continue;
      copy_(gathered.at(to, 0, planes.from - part.read.from),
            slab.volumes[volume].at(given(volume, i, arguments), n, planes.from - slab.planes.from),
            planes.count() * gathered.plane);
    }
    return to;
  }

  // Whether the part's sum is added to earlier parts of its block.
  bool is_added(const Part& part, std::int64_t n) const {
    return sums_ && (n > 0 || part.made.from % block_ != 0);
  }
  void* block(const Part& part, std::size_t output, const KernelArguments& arguments) const {
    std::byte* const blocks = node_makers_.empty() ? static_cast<std::byte*>(arguments.outputs[output])
                                                   : place<std::byte>(arguments, block_places_[output]);
    return blocks + part.made.from / block_ * block_bytes_[output];
  }
  void add_nodes(std::size_t output, const KernelArguments& arguments) {
    void* blocks = place<std::byte>(arguments, block_places_[output]);
    void* nodes = arguments.outputs[output];
    KernelArguments adding = arguments;
    adding.inputs = {&blocks, 1};
    adding.outputs = {&nodes, 1};
    adding.workspace = place<std::byte>(arguments, inner_place_);
    node_makers_[output]->run(adding);
  }
  void add_up(const Part& part, const KernelArguments& arguments) {
    for (std::size_t i = 0; i < adders_.size(); ++i) {
      void* sum = block(part, i, arguments);
      void* both[2] = {sum, place<std::byte>(arguments, part_places_[i])};
      KernelArguments adding = arguments;
      adding.inputs = both;
      adding.outputs = {&sum, 1};
      adding.workspace = place<std::byte>(arguments, inner_place_);
      adders_[i]->run(adding);
    }
  }

  const Operation& inner_;
  std::function<void(void*, const void*, std::int64_t)> copy_;
  Graph slab_;  // the inner node, with the window as one volume
  bool sums_;
  std::size_t others_ = 0;
  std::int64_t samples_ = 1;
  std::vector<Slab> slabs_;
  std::vector<Part> parts_;
  std::vector<Volume> along_;            // per inner input; no planes if it is not a volume
  std::vector<Volume> gathered_, made_;  // volumes read through the window; outputs
  WorkspacePlan plan_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Kernel>> adders_, node_makers_;  // per output
  std::vector<std::int64_t> part_places_, block_places_, gather_places_, made_places_;
  std::int64_t block_ = 1;                 // planes of a block of sums
  std::vector<std::int64_t> block_bytes_;  // per output
  std::int64_t inner_place_ = 0, along_place_ = 0;
  bool copies_ = false;  // samples are not aligned as kernels need: each is copied there and back
  std::vector<void*> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Kernel> make_windowed(const Graph& graph, const Node& node, const WindowedTools& tools) {
  return std::make_unique<WindowedKernel>(graph, node, tools);
}

}  // namespace voxswap::net
