// JSON with keys in insertion order: nlohmann's, with a destructor that cannot fail.
//
// Before it destroys an array or object it moves the values onto a stack that it makes for that, so that deep
// nesting needs no deep recursion. The stack takes memory, the destructor may not throw, and where memory had
// run out the program ended by a signal. Here the stack is made from a reserve where there is no other
// memory.
//
// Objects of many keys have an index of them, which nlohmann's own lack: theirs are searched from the start.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voxswap {

// What arrays and objects are made with; nothing but another name, so that Json is a type of our own and the
// memory of std::vector<Json>, which that stack is, can be told from it.
template <typename T>
struct JsonAllocator : std::allocator<T> {
  JsonAllocator() = default;
  template <typename U>
  explicit(false) JsonAllocator(const JsonAllocator<U>& other) noexcept : std::allocator<T>(other) {}
  template <typename U>
  struct rebind {
    using other = JsonAllocator<U>;
  };
};

// A list of keys and values, as nlohmann's, with a hash table of the keys' places as soon as there are many.
template <typename Key, typename Value, typename Less, typename Allocator>
class IndexedMap : private nlohmann::ordered_map<Key, Value, Less, Allocator> {
  using Base = nlohmann::ordered_map<Key, Value, Less, Allocator>;

 public:
  using Base::Base, Base::begin, Base::end, Base::cbegin, Base::cend, Base::empty, Base::size, Base::max_size;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::key_compare;
  using typename Base::key_type;
  using typename Base::mapped_type;
  using typename Base::size_type;
  using typename Base::value_type;

  bool operator==(const IndexedMap& other) const { return bare() == other.bare(); }
  std::partial_ordering operator<=>(const IndexedMap& other) const { return bare() <=> other.bare(); }

  iterator find(std::string_view key) { return begin() + place(key); }
  const_iterator find(std::string_view key) const { return begin() + place(key); }
  size_type count(std::string_view key) const { return find(key) == end() ? 0 : 1; }

  std::pair<iterator, bool> emplace(std::string_view key, Value value) {
    if (const iterator found = find(key); found != end()) return {found, false};
    if (size() >= few && slots_.size() < 2 * (size() + 1)) make_index(4 * (size() + 1));
    Base::emplace_back(Key(key), std::move(value));
    if (!slots_.empty()) slots_[free_slot(key)] = size();
    return {std::prev(end()), true};
  }
  Value& operator[](std::string_view key) { return emplace(key, Value()).first->second; }
  std::pair<iterator, bool> insert(const value_type& entry) { return emplace(entry.first, entry.second); }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }

  size_type erase(std::string_view key) {
    const iterator found = find(key);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  iterator erase(iterator entry) { return erase(entry, std::next(entry)); }
  iterator erase(iterator first, iterator last) {
    const iterator next = Base::erase(first, last);
    if (!slots_.empty()) make_index(slots_.size());
    return next;
  }
  void clear() {
    slots_.clear();
    Base::clear();
  }

 private:
  static constexpr std::size_t few = 16;  // are searched one after the other

  const Base& bare() const { return *this; }

  // The end where there is no such key.
  std::ptrdiff_t place(std::string_view key) const {
    if (slots_.empty())
      return std::find_if(begin(), end(), [&](const auto& entry) { return entry.first == key; }) - begin();
    std::size_t slot = first_slot(key);
    while (slots_[slot] != 0 && (begin() + at(slot))->first != key) slot = (slot + 1) % slots_.size();
    return slots_[slot] == 0 ? static_cast<std::ptrdiff_t>(size()) : at(slot);
  }
  std::ptrdiff_t at(std::size_t slot) const { return static_cast<std::ptrdiff_t>(slots_[slot]) - 1; }
  std::size_t first_slot(std::string_view key) const {
    return std::hash<std::string_view>{}(key) % slots_.size();
  }
  std::size_t free_slot(std::string_view key) const {
    std::size_t slot = first_slot(key);
    while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
    return slot;
  }
  void make_index(std::size_t slots) {
    slots_.assign(slots, 0);
    std::size_t number = 0;
    for (const auto& entry : *this) slots_[free_slot(entry.first)] = ++number;
  }

  std::vector<std::size_t> slots_;  // places of entries, counted from 1; 0: free. Empty where they are few
};

using Json = nlohmann::basic_json<IndexedMap, std::vector, std::string, bool, std::int64_t, std::uint64_t,
                                  double, JsonAllocator>;

// All texts are parsed by these, because nlohmann copies and compares by recursion: what is nested deeper
// than 200 levels counts as invalid. parse_json() returns a discarded value for an invalid text,
// checked_json() throws Json::parse_error.
Json parse_json(std::string_view text);
Json checked_json(std::string_view text);

// Memory, of the reserve (1 MiB, the values of 30,000 entries) where there is no other; std::bad_alloc when
// that is used up.
void* take_or_reserve(std::size_t bytes);
void give_back(void* memory) noexcept;

}  // namespace voxswap

template <>
struct std::allocator<voxswap::Json> {
  using value_type = voxswap::Json;
  allocator() = default;
  template <typename T>
  explicit(false) allocator(const std::allocator<T>&) noexcept {}
  voxswap::Json* allocate(std::size_t count);
  void deallocate(voxswap::Json* values, std::size_t) noexcept { voxswap::give_back(values); }
  bool operator==(const allocator&) const = default;
};

inline voxswap::Json* std::allocator<voxswap::Json>::allocate(std::size_t count) {
  return static_cast<voxswap::Json*>(voxswap::take_or_reserve(count * sizeof(voxswap::Json)));
}
