#include "net/graph/origin.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace voxswap::net {

namespace {

class Numbers {
 public:
  VolumeNumbers of(const Graph& graph) {
    VolumeNumbers result;
    for (const Value& value : graph.values()) result.values.push_back(number(values_, value.origin));
    for (const Node& node : graph.nodes()) result.nodes.push_back(number(nodes_, node.origin));
    return result;
  }

 private:
  using Known = std::map<std::pair<std::string, std::int32_t>, std::int32_t>;  // by name and sample
  static std::int32_t number(Known& known, const Origin& origin) {
    const auto next = static_cast<std::int32_t>(known.size());
    return known.try_emplace({origin.name, origin.sample}, next).first->second;
  }
  Known values_, nodes_;
};

template <class Item>
std::vector<std::int32_t> find_in(const std::vector<Item>& one, const std::vector<Item>& all) {
  std::map<std::pair<std::string, std::int32_t>, std::int32_t> ids;  // by name and slab
  for (std::size_t id = 0; id < one.size(); ++id)
    ids.emplace(std::pair(one[id].origin.name, one[id].origin.slab), static_cast<std::int32_t>(id));
  std::vector<std::int32_t> result;
  for (const Item& item : all) {
    const auto found = ids.find({item.origin.name, item.origin.slab});
    result.push_back(found == ids.end() ? none : found->second);
  }
  return result;
}

}  // namespace

VolumeNumbers number_volumes(const Graph& graph) {
  return Numbers().of(graph);
}

std::pair<VolumeNumbers, VolumeNumbers> number_volumes(const Graph& a, const Graph& b) {
  Numbers numbers;
  VolumeNumbers of_a = numbers.of(a);
  return {std::move(of_a), numbers.of(b)};
}

Counterparts counterparts(const Graph& all, const Graph& one) {
  return {find_in(one.values(), all.values()), find_in(one.nodes(), all.nodes())};
}

}  // namespace voxswap::net
