#include "swap/planners/choice.h"

#include "base/index.h"

namespace voxswap::swap {
namespace {

constexpr net::NodeId near = 4;  // nodes between two readings that are not worth a run in between

void repeat_in_long_gaps(const DigestValue& value, Choice& choice) {
  net::NodeId before = value.producer;
  for (std::size_t i = 0; i < value.readers.size(); ++i) {
    choice.again[index(value.first_gap) + i] = value.readers[i] - before > near;
    before = value.readers[i];
  }
  choice.again[index(value.first_gap) + value.readers.size()] = true;
}

}  // namespace

Choice keep_everything(const Digest& digest) {
  return {std::vector<bool>(index(digest.gaps), false), std::vector<bool>(digest.values.size(), false),
          std::vector<float>(digest.values.size(), 1)};
}

void repeat_in_chains(const Digest& digest, const Chains& chains, Choice& choice) {
  std::vector<int> chain(digest.values.size(), 0);
  for (net::ValueId id = 0; index(id) < digest.values.size(); ++id) {
    const DigestValue& value = digest.values[index(id)];
    if (!value.repeatable || !(value.cheap || chains.costly) || value.bytes < chains.least_bytes) continue;
    int length = 1;
    for (const net::ValueId input : digest.nodes[index(value.producer)].reads) length += chain[index(input)];
    if (length > chains.longest) continue;
    chain[index(id)] = length;
    repeat_in_long_gaps(value, choice);
  }
}

void repeat_with_sources(const Digest& digest, net::ValueId id, int depth, bool alone, Choice& choice) {
  const DigestValue& value = digest.values[index(id)];
  if (!value.repeatable) return;
  repeat_in_long_gaps(value, choice);
  choice.alone[index(id)] = alone;
  if (depth == 0) return;
  for (const net::ValueId input : digest.nodes[index(value.producer)].reads)
    repeat_with_sources(digest, input, depth - 1, alone, choice);
}

}  // namespace voxswap::swap
