// The CPU as a device, behind the backend's interface.
#include "net/backends/cpu/host_device.h"

namespace voxswap::net {

std::unique_ptr<Memory> HostBackend::allocate(std::int64_t bytes) {
  return voxswap::net::allocate_host(bytes);
}
std::unique_ptr<Memory> HostBackend::allocate_host(std::int64_t bytes) {
  return allocate_touched_host(bytes);
}
std::unique_ptr<Stream> HostBackend::make_stream() {
  return voxswap::net::make_host_stream();
}
std::unique_ptr<Stream> HostBackend::make_host_stream() {
  return voxswap::net::make_host_stream();
}
std::unique_ptr<Event> HostBackend::make_event() {
  return make_host_event();
}
double HostBackend::elapsed(const Event& from, const Event& to) const {
  return host_elapsed(from, to);
}
std::int64_t HostBackend::free_bytes() const {
  return voxswap::net::free_host_bytes();
}
std::int64_t HostBackend::free_host_bytes() const {
  return voxswap::net::free_host_bytes();
}

}  // namespace voxswap::net
