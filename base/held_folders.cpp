#include "base/held_folders.h"

#include <mutex>
#include <set>

namespace voxswap {

namespace {

std::mutex held_mutex;  // guards `held`
std::set<std::string> held;

}  // namespace

void hold_folder(const std::string& folder) {
  const std::lock_guard lock(held_mutex);
  held.insert(folder);
}

void release_folder(const std::string& folder) {
  const std::lock_guard lock(held_mutex);
  held.erase(folder);
}

bool holds_folder(const std::string& folder) {
  const std::lock_guard lock(held_mutex);
  return held.contains(folder);
}

}  // namespace voxswap
