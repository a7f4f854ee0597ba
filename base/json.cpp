#include "base/json.h"

#include <array>
#include <functional>
#include <mutex>
#include <new>

namespace voxswap {

namespace {

constexpr int deepest = 200;

// Counts brackets outside strings; assumes valid JSON.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return true;
    } else {
      quoted = c == '"';
      if (c == ']' || c == '}') --depth;
    }
  }
  return false;
}

// Memory is allocated from the beginning, and reset once all allocations have been freed.
struct Reserve {
  std::mutex mutex;  // guards everything below
  std::size_t taken = 0, allocations = 0;
  alignas(std::max_align_t) std::array<std::byte, 1 << 20> bytes;
};

constinit Reserve reserve{};

}  // namespace

Json parse_json(std::string_view text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

Json checked_json(std::string_view text) {
  return Json::parse(is_too_deep(text) ? std::string_view() : text);
}

void* take_or_reserve(std::size_t bytes) {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  constexpr std::size_t unit = alignof(std::max_align_t);
  const std::lock_guard lock(reserve.mutex);
  if (bytes > reserve.bytes.size() - reserve.taken) throw std::bad_alloc();
  std::byte* const memory = reserve.bytes.data() + reserve.taken;
  reserve.taken += (bytes + unit - 1) / unit * unit;
  ++reserve.allocations;
  return memory;
}

void give_back(void* memory) noexcept {
  const std::less<const void*> before;
  if (before(memory, reserve.bytes.data()) || !before(memory, reserve.bytes.data() + reserve.bytes.size())) {
    ::operator delete(memory);
    return;
  }
  const std::lock_guard lock(reserve.mutex);
  if (--reserve.allocations == 0) reserve.taken = 0;
}

}  // namespace voxswap
