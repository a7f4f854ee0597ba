#include "net/graph/sum_blocks.h"

namespace voxswap::net {

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

}  // namespace voxswap::net
