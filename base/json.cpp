#include "base/json.h"

#include <array>
#include <functional>
#include <mutex>
#include <new>

namespace voxswap {

namespace {

// Handed out from its beginning to its end; whole again as soon as all of it was given back.
struct Reserve {
  std::mutex mutex;  // guards everything below
  std::size_t taken = 0, pieces = 0;
  alignas(std::max_align_t) std::array<std::byte, 1 << 20> bytes;
};

constinit Reserve reserve{};

}  // namespace

void* take_or_reserve(std::size_t bytes) {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  constexpr std::size_t unit = alignof(std::max_align_t);
  const std::lock_guard lock(reserve.mutex);
  if (bytes > reserve.bytes.size() - reserve.taken) throw std::bad_alloc();
  std::byte* const memory = reserve.bytes.data() + reserve.taken;
  reserve.taken += (bytes + unit - 1) / unit * unit;
  ++reserve.pieces;
  return memory;
}

void give_back(void* memory) noexcept {
  const std::less<const void*> before;
  if (before(memory, reserve.bytes.data()) || !before(memory, reserve.bytes.data() + reserve.bytes.size())) {
    ::operator delete(memory);
    return;
  }
  const std::lock_guard lock(reserve.mutex);
  if (--reserve.pieces == 0) reserve.taken = 0;
}

}  // namespace voxswap
