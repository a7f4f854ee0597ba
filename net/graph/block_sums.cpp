#include "net/graph/block_sums.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace voxswap::net {

namespace {

// The additions that join whole nodes, and at the end, if there is to be one sum, all that is left.
Total total_of_rows(std::vector<Blocks> rows, bool apart) {
  Total total;
  std::vector<Blocks> sums;
  const auto add_last = [&] {
    sums[sums.size() - 2].count += sums.back().count;
    sums.pop_back();
    ++total.additions.back();
  };
  const auto is_second_half = [&](const Blocks& node) {
    return sums.size() > 1 && sums[sums.size() - 2].count == node.count && node.first / node.count % 2 == 1;
  };
  for (const Blocks& row : rows) {
    sums.push_back(row);
    total.additions.push_back(0);
    while (is_second_half(sums.back())) add_last();
  }
  while (!apart && sums.size() > 1) add_last();
  total.rows = std::move(rows);
  total.outputs = std::move(sums);
  return total;
}

}  // namespace

SumBlocks sum_blocks(const Attributes& attributes, std::int64_t planes_here) {
  const std::int64_t planes = attributes.integer_or("block", 0);
  if (planes == 0) return {planes_here, 1, 1};
  return {planes, (planes_here + planes - 1) / planes, attributes.integer("blocks")};
}

void set_sum_blocks(Attributes& attributes, std::int64_t planes, std::int64_t all) {
  attributes.set("block", static_cast<double>(planes));
  attributes.set("blocks", static_cast<double>(all));
}

Attributes as_one_block(Attributes attributes) {
  set_sum_blocks(attributes, 0, 1);
  attributes.set("apart", 0);
  return attributes;
}

std::vector<Blocks> tree_nodes(const Blocks& blocks) {
  return total_of_blocks(blocks.first, blocks.count, /*apart=*/true).outputs;
}

Total total_of_blocks(std::int64_t first, std::int64_t count, bool apart) {
  std::vector<Blocks> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back({first + i, 1});
  return total_of_rows(std::move(rows), apart);
}

Total total_of(const std::vector<std::int64_t>& rows_of_inputs, const Attributes& attributes) {
  const bool apart = attributes.flag("apart");
  const std::int64_t first = attributes.integer_or("first", 0);
  const std::int64_t all = std::accumulate(rows_of_inputs.begin(), rows_of_inputs.end(), std::int64_t{0});
  if (!attributes.flag("nodes")) return total_of_blocks(first, all, apart);
  const std::int64_t each = attributes.integer("each"), end = attributes.integer("end");
  std::vector<Blocks> rows;
  for (std::int64_t from = first; from < end; from += each) {
    const std::vector<Blocks> nodes = tree_nodes({from, std::min(each, end - from)});
    rows.insert(rows.end(), nodes.begin(), nodes.end());
  }
  assert(static_cast<std::int64_t>(rows.size()) == all);
  return total_of_rows(std::move(rows), apart);
}

}  // namespace voxswap::net
