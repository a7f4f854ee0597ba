#include "swap/planners/outside.h"

#include <algorithm>

#include "base/index.h"

namespace voxswap::swap {
bool choose_tiers(const GraphFacts& facts, Schedule& schedule) {
  const Budgets& budgets = facts.request->budgets;
  schedule.on_disk.assign(schedule.sequence.lives.size(), false);
  const auto bytes_of = [&](const IdleTime& stretch) {
    return facts.values[index(schedule.sequence.lives[index(stretch.life)].value)].bytes;
  };
  struct Away {
    std::int32_t life, from, to;
    std::int64_t bytes;
  };
  std::vector<Away> away;
  for (const IdleTime& stretch : schedule.stretches) {
    if (facts.values[index(schedule.sequence.lives[index(stretch.life)].value)].streams) continue;
    if (stretch.first)
      away.push_back({stretch.life, stretch.free_from() - 1, stretch.needed, bytes_of(stretch)});
    away.back().to = stretch.needed;
  }
  std::int64_t total = 0;
  for (const Away& life : away) total += life.bytes;
  std::int64_t host = budgets.host;
  if (total <= host) return true;
  std::sort(away.begin(), away.end(), [](const Away& x, const Away& y) {
    return x.from != y.from ? x.from < y.from : x.life < y.life;
  });
  if (budgets.disk > 0) host = std::max<std::int64_t>(0, host - passage_bytes(host));
  std::int64_t held = 0, on_disk = 0, disk_peak = 0;
  std::vector<Away> inside;
  for (const Away& life : away) {
    std::erase_if(inside, [&](const Away& other) {
      if (other.to >= life.from) return false;
      (schedule.on_disk[index(other.life)] ? on_disk : held) -= other.bytes;
      return true;
    });
    inside.push_back(life);
    held += life.bytes;
    while (held > host) {
      Away* last = nullptr;
      for (Away& other : inside)
        if (!schedule.on_disk[index(other.life)] && (last == nullptr || other.to > last->to)) last = &other;
      schedule.on_disk[index(last->life)] = true;
      held -= last->bytes;
      on_disk += last->bytes;
    }
    disk_peak = std::max(disk_peak, on_disk);
  }
  if (disk_peak > budgets.disk)
    schedule.excess = std::max(schedule.excess, static_cast<double>(disk_peak - budgets.disk));
  // What the host pool cannot hold is too much there, where there is no disk to speak of.
  if (budgets.disk == 0) schedule.on_disk.assign(schedule.on_disk.size(), false);
  return false;
}

}  // namespace voxswap::swap
