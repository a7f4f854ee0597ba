// Replaces the standard operators new and delete.
#include "tests/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace voxswap::test {

std::atomic<long> Heap::allocations = 0, Heap::bytes = 0, Heap::most_bytes = 0;
std::atomic<bool> Heap::counted = false, Heap::empty = false;

namespace {

constexpr std::size_t usual_alignment = 16;

// Not inlined, like release(): the compiler would see free() on a result of new, and warn.
[[gnu::noinline]] void* take(std::size_t size, std::size_t alignment) noexcept {
  if (Heap::counted) ++Heap::allocations;
  if (Heap::empty) return nullptr;
  void* const memory =
      std::aligned_alloc(alignment, (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment);
  if (Heap::counted) {
    const long now = Heap::bytes += static_cast<long>(::malloc_usable_size(memory));
    for (long most = Heap::most_bytes; now > most && !Heap::most_bytes.compare_exchange_weak(most, now);) {
    }
  }
  return memory;
}

void* take_or_throw(std::size_t size, std::size_t alignment) {
  void* const memory = take(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

[[gnu::noinline]] void release(void* memory) noexcept {
  if (Heap::counted) Heap::bytes -= static_cast<long>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace
}  // namespace voxswap::test

using voxswap::test::release;
using voxswap::test::take;
using voxswap::test::take_or_throw;
using voxswap::test::usual_alignment;

// All forms: sanitizers supply missing ones and require pairs.
void* operator new(std::size_t size) {
  return take_or_throw(size, usual_alignment);
}
void* operator new[](std::size_t size) {
  return take_or_throw(size, usual_alignment);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size, usual_alignment);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size, usual_alignment);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
