#include "pipeline/device/staging.h"

#include <algorithm>
#include <cstring>

#include "base/float16.h"
#include "base/parallel.h"
#include "swap/plan/arena.h"

namespace voxswap::pipeline {

namespace {

template <class To, class Convert>
void stage_numbers(std::span<const float> from, To* to, Convert convert) {
  constexpr std::size_t slice = std::size_t{1} << 20;
  parallel_for((from.size() + slice - 1) / slice, [&](std::size_t i) {
    const std::size_t begin = i * slice, end = std::min(from.size(), begin + slice);
    for (std::size_t k = begin; k < end; ++k) to[k] = convert(from[k]);
  });
}

void stage_part(std::span<const float> part, net::ElementType type, std::byte* to) {
  auto* const halves = reinterpret_cast<std::uint16_t*>(to);
  switch (type) {
    case net::ElementType::bf16:
      return stage_numbers(part, halves, [](float x) { return to_bfloat16(x); });
    case net::ElementType::f16:
      return stage_numbers(part, halves, [](float x) { return to_float16(x); });
    default:
      return stage_numbers(part, reinterpret_cast<float*>(to), [](float x) { return x; });
  }
}

// Elements of one plane of the slab's volume.
template <class T>
std::size_t plane_elements(std::span<const T> volume, const InputSlab& slab) {
  return volume.size() / static_cast<std::size_t>(slab.turns * slab.value.shape[0] * slab.depth);
}
// The slab's planes in sample n.
template <class T>
std::span<const T> planes_of(std::span<const T> volume, const InputSlab& slab, std::int64_t n) {
  const std::size_t plane = plane_elements(volume, slab);
  const std::int64_t sample = slab.turn * slab.value.shape[0] + n;
  return volume.subspan(static_cast<std::size_t>(sample * slab.depth + slab.first_plane) * plane,
                        static_cast<std::size_t>(slab.value.shape[1]) * plane);
}
bool is_contiguous(const InputSlab& slab) {
  return slab.value.shape[0] == 1 || slab.value.shape[1] == slab.depth;
}

}  // namespace

std::vector<InputSlab> input_slabs(const net::Graph& graph, const swap::Plan& plan,
                                   const std::vector<net::ValueId>& slabs, std::int64_t turns,
                                   std::int64_t first_plane, std::int64_t depth) {
  std::vector<InputSlab> result;
  const std::size_t each = slabs.size() / static_cast<std::size_t>(turns);
  std::int64_t plane = first_plane;
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    if (i % each == 0) plane = first_plane;
    const net::ValueId id = slabs[i];
    result.push_back({graph.value(id), plane, 0, static_cast<std::int64_t>(i / each), turns, id,
                      swap::find_streamed(plan, id) != nullptr});
    plane += graph.value(id).shape[1];
  }
  for (InputSlab& slab : result) slab.depth = depth > 0 ? depth : plane;
  return result;
}

const std::byte* found_in(std::span<const float> image, const InputSlab& slab) {
  if (slab.value.type != net::ElementType::f32 || !is_contiguous(slab)) return nullptr;
  return reinterpret_cast<const std::byte*>(planes_of(image, slab, 0).data());
}
const std::byte* found_in(std::span<const std::uint8_t> target, const InputSlab& slab) {
  return is_contiguous(slab) ? reinterpret_cast<const std::byte*>(planes_of(target, slab, 0).data())
                             : nullptr;
}

void stage(std::span<const float> image, const InputSlab& slab, std::byte* to) {
  for (std::int64_t n = 0; n < slab.value.shape[0]; ++n)
    stage_part(planes_of(image, slab, n), slab.value.type, to + n * slab.value.bytes() / slab.value.shape[0]);
}

void stage(std::span<const std::uint8_t> target, const InputSlab& slab, std::byte* to) {
  for (std::int64_t n = 0; n < slab.value.shape[0]; ++n) {
    const std::span<const std::uint8_t> part = planes_of(target, slab, n);
    std::memcpy(to + n * static_cast<std::int64_t>(part.size()), part.data(), part.size());
  }
}

void InputWriter::write(swap::Executor& executor, const std::vector<InputSlab>& slabs,
                        std::span<const float> image) {
  write_volume(executor, slabs, image, waiting_image_);
}

void InputWriter::write(swap::Executor& executor, const std::vector<InputSlab>& slabs,
                        std::span<const std::uint8_t> target) {
  write_volume(executor, slabs, target, waiting_target_);
}

template <class T>
void InputWriter::write_volume(swap::Executor& executor, const std::vector<InputSlab>& slabs,
                               std::span<const T> volume, Block& waiting) {
  std::vector<const std::byte*> found(slabs.size(), nullptr);
  std::int64_t bytes = 0;  // size of `waiting`
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    if (backend_->computes_on_host()) found[i] = found_in(volume, slabs[i]);
    if (found[i] == nullptr && slabs[i].streams) bytes += swap::occupied(slabs[i].value.bytes());
  }
  if (bytes > 0) take(waiting, bytes);
  std::int64_t place = 0;
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    const std::int64_t size = slabs[i].value.bytes();
    if (found[i] == nullptr) {
      if (!slabs[i].streams) take(staging_, size);
      std::byte* const to = slabs[i].streams ? waiting->data() + place : staging_->data();
      if (slabs[i].streams) place += swap::occupied(size);
      stage(volume, slabs[i], to);
      found[i] = to;
    }
    executor.lend(slabs[i].id, found[i], size);
  }
}

void InputWriter::take(Block& block, std::int64_t bytes) {
  if (!block || block->bytes() < bytes) block = backend_->allocate_host(bytes);
}

}  // namespace voxswap::pipeline
