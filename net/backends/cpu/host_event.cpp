#include "net/backends/cpu/host_event.h"

#include "net/backends/cpu/host_device.h"

namespace voxswap::net {

std::uint64_t HostEvent::record_enqueued() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}
std::uint64_t HostEvent::wait_enqueued() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void HostEvent::happen(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (generation > happened_) {
    happened_ = generation;
    time_ = Clock::now();
  }
  changed_.notify_all();  // under the lock: a waiter may destroy the event as soon as it is released
}

void HostEvent::wait(std::uint64_t generation) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return happened_ >= generation; });
}

HostEvent::Clock::time_point HostEvent::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

std::unique_ptr<Event> make_host_event() {
  return std::make_unique<HostEvent>();
}
double host_elapsed(const Event& from, const Event& to) {
  return std::chrono::duration<double>(static_cast<const HostEvent&>(to).time() -
                                       static_cast<const HostEvent&>(from).time())
      .count();
}

}  // namespace voxswap::net
