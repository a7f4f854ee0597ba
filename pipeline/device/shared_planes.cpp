#include "pipeline/device/shared_planes.h"

#include <algorithm>

#include "base/shape.h"

namespace voxswap::pipeline {

std::vector<float> SharedPlanes::on_all(std::vector<float> own) const {
  if (stays_whole()) return own;
  const net::Planes mine = planes[index(here.rank)];
  std::vector<float> all(index(planes.back().to * plane));
  std::copy(own.begin(), own.end(), all.begin() + mine.from * plane);
  const std::int64_t bytes = plane * static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t bits = 1; bits < 2 * here.count; ++bits) {
    const std::int64_t other = here.rank ^ bits;
    if (other >= here.count) continue;
    const net::Planes theirs = planes[index(other)];
    ranks.swap(static_cast<int>(first + other), all.data() + mine.from * plane, mine.count() * bytes,
               all.data() + theirs.from * plane, theirs.count() * bytes);
  }
  return all;
}

template <class T>
void SharedPlanes::to_first(const std::function<void(const Take<T>&)>& own, const Take<T>& take) const {
  const std::int64_t bytes = plane * static_cast<std::int64_t>(sizeof(T));
  if (here.rank > 0) {
    if (stays_whole()) return;
    return own([&](std::span<const T> mine) {
      for (; !mine.empty(); mine = mine.subspan(index(plane)))
        ranks.send(static_cast<int>(first), mine.data(), bytes);
    });
  }
  own(take);
  if (stays_whole()) return;
  std::vector<T> one(index(plane));
  for (std::int64_t other = 1; other < here.count; ++other)
    for (std::int64_t n = planes[index(other)].count(); n > 0; --n) {
      ranks.receive(static_cast<int>(first + other), one.data(), bytes);
      take(one);
    }
}

template void SharedPlanes::to_first(const std::function<void(const Take<float>&)>&,
                                     const Take<float>&) const;
template void SharedPlanes::to_first(const std::function<void(const Take<std::int16_t>&)>&,
                                     const Take<std::int16_t>&) const;

}  // namespace voxswap::pipeline
