#include "swap/verify/shadow.h"

#include <algorithm>

namespace voxswap::swap {
namespace {

constexpr std::array<std::int32_t, lane_count> no_lane = [] {
  std::array<std::int32_t, lane_count> all{};
  all.fill(net::none);
  return all;
}();

}  // namespace

ShadowMemory::ShadowMemory(std::int64_t bytes, const StreamOrder& order) : order_(order) {
  if (bytes > 0) cells_[0] = {bytes, {}, net::none, no_lane};
}

ShadowMemory::Cells::iterator ShadowMemory::cut(std::int64_t at) {
  auto after = cells_.lower_bound(at);
  if (after != cells_.end() && after->first == at) return after;
  if (after == cells_.begin()) return after;
  Cell& before = std::prev(after)->second;
  if (before.end <= at) return after;  // the end of the memory
  const Cell rest = before;
  before.end = at;
  return cells_.emplace_hint(after, at, rest);
}

bool ShadowMemory::unordered(std::int32_t other, std::int32_t instruction) const {
  return other != net::none && other != instruction && !order_.before(other, instruction);
}

void ShadowMemory::replace(Cells::iterator first, Cells::iterator last, const Cell& cell) {
  first->second = cell;
  cells_.erase(std::next(first), last);
}

void ShadowMemory::put(std::int64_t begin, std::int64_t bytes, const Content& content) {
  const auto first = cut(begin);
  replace(first, cut(begin + bytes), {begin + bytes, content, net::none, no_lane});
}

std::optional<ShadowMemory::Fault> ShadowMemory::read(std::int64_t begin, std::int64_t bytes,
                                                      std::int32_t instruction,
                                                      const std::optional<Content>& expected) {
  std::optional<Fault> fault;
  const auto lane = order_.lane(instruction);
  const auto first = cut(begin), last = cut(begin + bytes);
  for (auto at = first; at != last; ++at) {
    Cell& cell = at->second;
    const auto report = [&](Fault::Kind kind) {
      if (!fault) fault = Fault{kind, at->first, cell.end, cell.content, cell.writer};
    };
    if (expected && cell.content != *expected)
      report(Fault::Kind::other_content);
    else if (unordered(cell.writer, instruction))
      report(Fault::Kind::read_before_write_done);
    cell.readers[lane] = instruction;
  }
  return fault;
}

std::optional<ShadowMemory::Fault> ShadowMemory::write(std::int64_t begin, std::int64_t bytes,
                                                       std::int32_t instruction, const Content& content) {
  std::optional<Fault> fault;
  const auto first = cut(begin), last = cut(begin + bytes);
  for (auto at = first; at != last && !fault; ++at) {
    const Cell& cell = at->second;
    for (const std::int32_t reader : cell.readers)
      if (unordered(reader, instruction))
        fault = Fault{Fault::Kind::write_before_read_done, at->first, cell.end, cell.content, reader};
    if (!fault && unordered(cell.writer, instruction))
      fault = Fault{Fault::Kind::write_before_write_done, at->first, cell.end, cell.content, cell.writer};
  }
  replace(first, last, {begin + bytes, content, instruction, no_lane});
  return fault;
}

std::optional<ShadowMemory::Fault> ShadowMemory::holds(std::int64_t begin, std::int64_t bytes,
                                                       const Content& expected) const {
  for (auto at = std::prev(cells_.upper_bound(begin)); at != cells_.end() && at->first < begin + bytes; ++at)
    if (at->second.content != expected)
      return Fault{Fault::Kind::other_content, at->first, at->second.end, at->second.content,
                   at->second.writer};
  return std::nullopt;
}

}  // namespace voxswap::swap
