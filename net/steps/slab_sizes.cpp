#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/block_sums.h"
#include "net/graph/operation.h"
#include "net/graph/origin.h"
#include "net/steps/slabs.h"

namespace voxswap::net {

namespace {

using Kind = Cut::Kind;

// Finds the values that are volumes and can be split: images, and outputs computed from volumes by operations
// that can be split.
class Volumes {
 public:
  explicit Volumes(const Graph& graph)
      : graph_(graph), is_volume_(graph.values().size()), whole_(graph.values().size()) {
    for (std::size_t id = 0; id < graph.values().size(); ++id) {
      const Value& value = graph.values()[id];
      is_volume_[id] = value.role == Role::input && value.shape.rank() >= 4;
    }
    for (const Node& node : graph.nodes()) follow(node);
  }
  bool contains(ValueId id) const { return is_volume_[index(id)]; }
  bool stays_whole(ValueId id) const { return whole_[index(id)]; }

 private:
  void follow(const Node& node) {
    const Kind kind = node.operation->cut.kind;
    std::int64_t depth = 0;
    bool same_depth = true, any = false;
    for (const ValueId id : node.inputs) {
      if (!contains(id)) continue;
      any = true;
      const std::int64_t planes = graph_.value(id).shape[1];
      same_depth = same_depth && (depth == 0 || planes == depth);
      depth = planes;
    }
    if (!any && !node.operation->cut.spreads) return;
    for (const ValueId id : node.outputs)
      same_depth = same_depth && (kind != Kind::planewise || graph_.value(id).shape[1] == depth);
    if (kind == Kind::whole || (kind == Kind::planewise && !same_depth)) {
      for (const ValueId id : node.inputs)
        if (contains(id)) whole_[index(id)] = true;
      return;
    }
    if (kind == Kind::planewise || kind == Kind::windowed)
      for (const ValueId id : node.outputs) is_volume_[index(id)] = true;
  }

  const Graph& graph_;
  std::vector<bool> is_volume_, whole_;
};

using Sides = std::array<std::int64_t, 3>;
Sides sides_of(const Shape& shape) {
  return {shape[1], shape[2], shape[3]};
}

// Volumes with the same sides are split alike, because most operations read and make such volumes.
struct Level {
  std::int64_t largest = 0, plane = 0;  // bytes of the largest volume and of one plane of it
  std::int64_t element = 0, depth = 0;  // bytes of one element; planes
  bool stays_whole = false;
};

std::int64_t voxels_of(const Sides& sides) {
  return sides[0] * sides[1] * sides[2];
}

// The finest resolution that has large volumes. In 2D networks, where channels grow as sides shrink, it is
// that of the image.
const Level& finest(const std::map<Sides, Level>& levels) {
  std::int64_t largest = 0, most_voxels = 0;
  for (const auto& [sides, level] : levels) largest = std::max(largest, level.largest);
  const Level* result = nullptr;
  for (const auto& [sides, level] : levels) {
    if (small_volume_part * level.largest < largest || voxels_of(sides) <= most_voxels) continue;
    most_voxels = voxels_of(sides);
    result = &level;
  }
  return *result;
}

std::int64_t bytes_of_automatic_slab(const Level& level) {
  if (level.largest <= large_volume_bytes) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t usual = std::max(usual_slab_bytes, level.largest / usual_slabs);
  return std::max(std::min(usual, large_slab_elements * level.element), level.largest / most_slabs);
}

std::int64_t quotient_up(std::int64_t count, std::int64_t parts) {
  return (count + parts - 1) / parts;
}

// An even number, because networks halve their sides. Fewer planes per block would cost time at fine
// resolutions; more would leave ranks that share a volume without any at coarse ones.
std::int64_t planes_of_block(const Level& level) {
  constexpr std::int64_t deep = 64, usual = 4;
  if (level.depth <= deep) return 2;
  return std::clamp<std::int64_t>(2 * quotient_up(level.depth, 2 * usual_blocks), usual, most_block_planes);
}

std::int64_t bytes_of_slab(const std::map<Sides, Level>& levels, std::int64_t planes_per_slab) {
  const Level& level = finest(levels);
  if (planes_per_slab == whole_volumes) return std::numeric_limits<std::int64_t>::max();
  if (planes_per_slab == automatic_slabs) return bytes_of_automatic_slab(level);
  const std::int64_t block = planes_of_block(level);
  return quotient_up(planes_per_slab, block) * block * level.plane;
}

std::map<Sides, Level> levels_of(const Graph& graph, const Volumes& volumes) {
  std::map<Sides, Level> levels;
  for (ValueId id = 0; index(id) < graph.values().size(); ++id) {
    if (!volumes.contains(id)) continue;
    const Value& value = graph.value(id);
    Level& level = levels[sides_of(value.shape)];
    level.stays_whole = level.stays_whole || volumes.stays_whole(id);
    if (value.bytes() <= level.largest) continue;
    level.largest = value.bytes();
    level.depth = value.shape[1];
    level.plane = value.bytes() / level.depth;
    level.element = value.bytes() / value.shape.count();
  }
  return levels;
}

// Rounded down to whole blocks, at least one.
std::int64_t planes_of_slab(const Level& level, std::int64_t bytes) {
  const std::int64_t block = planes_of_block(level);
  return std::max<std::int64_t>(bytes / level.plane / block, 1) * block;
}

// Calls `function` for each volume that may be split.
template <class Function>
void for_each_volume(const Graph& graph, const Volumes& volumes, const std::map<Sides, Level>& levels,
                     Function function) {
  for (ValueId id = 0; index(id) < graph.values().size(); ++id) {
    if (!volumes.contains(id)) continue;
    const Level& level = levels.at(sides_of(graph.value(id).shape));
    if (!level.stays_whole) function(id, level);
  }
}

// False for sums over a volume or its planes.
bool is_of_volume(const Graph& graph, const Value& value) {
  if (value.producer == none) return value.shape.rank() == 5;
  const Operation* operation = graph.node(value.producer).operation;
  if (operation->inner != nullptr) operation = &operation->inner();
  return operation->cut.kind == Kind::planewise || operation->cut.kind == Kind::windowed;
}

}  // namespace

std::vector<std::int64_t> planes_of_blocks(const Graph& graph) {
  const Volumes volumes(graph);
  const std::map<Sides, Level> levels = levels_of(graph, volumes);
  std::vector<std::int64_t> planes(graph.values().size(), 0);
  for_each_volume(graph, volumes, levels,
                  [&](ValueId id, const Level& level) { planes[index(id)] = planes_of_block(level); });
  return planes;
}

std::vector<PlanesOfSlab> planes_of_slabs(const Graph& graph, std::int64_t planes_per_slab,
                                          std::int64_t ranks) {
  const Volumes volumes(graph);
  const std::map<Sides, Level> levels = levels_of(graph, volumes);
  std::vector<PlanesOfSlab> planes(graph.values().size());
  if (levels.empty()) return planes;
  const std::int64_t bytes = bytes_of_slab(levels, planes_per_slab);
  for_each_volume(graph, volumes, levels, [&](ValueId id, const Level& level) {
    const std::int64_t block = planes_of_block(level);
    const std::int64_t of_rank = quotient_up(quotient_up(level.depth, block), ranks) * block;
    const std::int64_t most = level.largest <= bytes ? of_rank : planes_of_slab(level, bytes);
    const std::int64_t slabs = quotient_up(of_rank, most);
    // Ranks have slabs of the same size.
    const std::int64_t slab = ranks == 1 ? most : quotient_up(of_rank / block, slabs) * block;
    if (slab < level.depth) planes[index(id)] = {slab, slabs * slab};
  });
  return planes;
}

std::optional<std::int64_t> planes_of_fewer_slabs(const Graph& graph, std::int64_t planes_per_slab) {
  if (planes_per_slab == whole_volumes) return std::nullopt;
  const std::map<Sides, Level> levels = levels_of(graph, Volumes(graph));
  if (levels.empty()) return std::nullopt;
  const Level& level = finest(levels);
  const std::int64_t planes = planes_of_slab(level, bytes_of_slab(levels, planes_per_slab));
  if (level.stays_whole || level.depth < many_slabs * planes) return std::nullopt;
  return 4 * planes;
}

std::string slabs_text(const Graph& step) {
  struct Slabs {
    std::size_t count = 0;
    std::int64_t planes = 0, all = 0;  // planes of the largest slab, and of all slabs
  };
  const std::vector<std::int32_t> volume_of = number_volumes(step).values;
  std::vector<Slabs> volumes(step.values().size());
  Slabs most;
  for (ValueId id = 0; index(id) < step.values().size(); ++id) {
    const Value& value = step.value(id);
    if (value.origin.slab == none || !is_of_volume(step, value)) continue;
    Slabs& slabs = volumes[index(volume_of[index(id)])];
    ++slabs.count;
    slabs.planes = std::max(slabs.planes, value.shape[1]);
    slabs.all += value.shape[1];
    if (slabs.all > most.all) most = slabs;
  }
  return most.count < 2 ? "none" : format("{} of {}", most.count, counted(most.planes, "plane"));
}

void sum_in_blocks(Graph& graph) {
  const std::vector<std::int64_t> planes = planes_of_blocks(graph);
  for (NodeId id = 0; index(id) < graph.nodes().size(); ++id) {
    Node& node = graph.node(id);
    const Cut& cut = node.operation->cut;
    if (cut.kind != Kind::windowed_sum) continue;
    const ValueId along = node.inputs[index(cut.along)];
    const std::int64_t block = planes[index(along)], depth = graph.value(along).shape[1];
    if (block > 0) set_sum_blocks(node.attributes, block, (depth + block - 1) / block);
  }
}

}  // namespace voxswap::net
