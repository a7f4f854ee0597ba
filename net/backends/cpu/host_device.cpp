// The CPU as a device, behind the backend's interface: its memory, and how much is free.

#include "net/backends/cpu/host_device.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/units.h"

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

// Memory of the CPU as a device: one mapping per block, in huge pages if the system has them. Too large
// requests fail with a clear message before the kernel's out-of-memory killer could end the program.

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

std::optional<std::string> first_line(const fs::path& path) {
  std::istringstream file(read_if_possible(path));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// A file that contains one number; nullopt if it is missing or contains "max".
std::optional<std::int64_t> number_in(const fs::path& path) {
  const std::optional<std::string> line = first_line(path);
  if (!line || line->empty() || (*line)[0] < '0' || (*line)[0] > '9') return std::nullopt;
  std::uint64_t value = 0;
  std::istringstream(*line) >> value;
  // cgroup v1 writes "no limit" as 2^63 rounded down to a page.
  return static_cast<std::int64_t>(std::min(value, static_cast<std::uint64_t>(unlimited)));
}

// The number after `key` in a file of "key number" lines.
std::optional<std::int64_t> number_after(const fs::path& path, const std::string& key) {
  std::istringstream file(read_if_possible(path));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word && word == key && words >> value) return value;
  }
  return std::nullopt;
}

struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // key in memory.stat: page cache that can be reclaimed
};

// The smallest amount that a cgroup or any of its ancestors leaves.
std::int64_t left_by_cgroups(const fs::path& mount, fs::path group, const CgroupFiles& files) {
  std::int64_t least = unlimited;
  for (group = group.relative_path();; group = group.parent_path()) {
    const fs::path folder = mount / group;
    const auto limit = number_in(folder / files.limit), usage = number_in(folder / files.usage);
    if (limit && usage && *limit < unlimited / 2) {
      const std::int64_t cache = number_after(folder / "memory.stat", files.reclaimable).value_or(0);
      const std::int64_t used = std::max<std::int64_t>(*usage - cache, 0);
      least = std::min(least, std::max<std::int64_t>(*limit - used, 0));
    }
    if (group.empty()) return least;
  }
}

// The smallest amount that any cgroup of the process leaves.
std::int64_t left_by_cgroups(const fs::path& root) {
  std::int64_t free = unlimited;
  // Lines are "hierarchy:controllers:path"; version 2 has no controllers in it.
  std::istringstream groups(read_if_possible(root / "proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      free = std::min(free, left_by_cgroups(root / "sys/fs/cgroup", path,
                                            {"memory.max", "memory.current", "inactive_file"}));
    else if (controllers.find(",memory,") != std::string::npos)
      free = std::min(
          free, left_by_cgroups(root / "sys/fs/cgroup/memory", path,
                                {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}));
  }
  return free;
}

// The amount that `ulimit -v` leaves: reserved memory counts, whether touched or not.
std::int64_t left_by_limit(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const std::int64_t used = number_in(root / "proc/self/statm").value_or(0) * sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(static_cast<std::int64_t>(limit.rlim_cur) - used, 0);
}

// Without /proc: unused memory, excluding the page cache although it could be reclaimed.
std::int64_t unused_bytes() {
  const std::int64_t pages = sysconf(_SC_AVPHYS_PAGES);
  return pages < 0 ? unlimited : pages * sysconf(_SC_PAGESIZE);
}

class HostMemory : public Memory {
 public:
  explicit HostMemory(std::int64_t bytes) : bytes_(bytes) {
    // Reserve extra to start at a huge page boundary; pages that are never touched cost nothing.
    mapped_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    if (bytes >= huge_page) mapped_ += static_cast<std::size_t>(huge_page);
    mapping_ =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping_ == MAP_FAILED) {
      const int error = errno;  // saved, because the next line changes it
      const std::string free = format_bytes(free_host_bytes());
      fail(Exit::does_not_fit, "memory: {} cannot be reserved ({}); {} are free", format_bytes(bytes),
           std::strerror(error), free);
    }
    data_ = static_cast<std::byte*>(mapping_);
    if (bytes < huge_page) return;
    const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
    const auto unit = static_cast<std::uintptr_t>(huge_page);
    data_ += (unit - address % unit) % unit;
    madvise(data_, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // advice: works without it too
  }
  ~HostMemory() override { munmap(mapping_, mapped_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  std::byte* data() override { return data_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  std::int64_t bytes_;
  std::size_t mapped_ = 0;
  void* mapping_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace

std::int64_t free_host_bytes(const fs::path& root) {
  const std::optional<std::int64_t> kibibytes = number_after(root / "proc/meminfo", "MemAvailable:");
  return std::min(
      {kibibytes ? *kibibytes * 1024 : unused_bytes(), left_by_cgroups(root), left_by_limit(root)});
}

std::unique_ptr<Memory> allocate_host(std::int64_t bytes) {
  constexpr std::int64_t small = 1 << 20;  // for which the kernel's own check is enough
  if (const std::int64_t free = bytes > small ? free_host_bytes() : bytes; bytes > free)
    fail(Exit::does_not_fit,
         "memory: {} are needed in one block, but {} are free on this machine (or within the limits "
         "of its cgroup and of ulimit -v). Use smaller volumes ({} or {}) or patches ({}), lower {} or {}, "
         "or end other programs",
         format_bytes(bytes), format_bytes(free), key::preprocess_resolution, key::preprocess_spacing,
         key::training_patch, key::network_base_filters, key::memory_budget);
  return std::make_unique<HostMemory>(bytes);
}

namespace {

[[noreturn]] void fail_to_take(std::int64_t bytes, std::int64_t taken, const std::string& why) {
  fail(Exit::does_not_fit,
       "host memory: a block of {} is needed, but the machine provided {} of it ({}). Lower {} (the rest "
       "then goes to {}), or end other programs",
       format_bytes(bytes), format_bytes(taken), why, key::memory_host, key::memory_disk);
}

bool comes_free(std::int64_t bytes, const TakingHost& how) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(how.patience_seconds);
  while (free_host_bytes(how.root) < bytes) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Since Linux 5.14 the kernel can commit all pages in one call; on older ones they are committed when
// touched. Returns an error message, or an empty string.
std::string touch(std::byte* begin, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
#ifdef MADV_POPULATE_WRITE
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0) return "";
  if (errno == ENOMEM || errno == EFAULT) return std::strerror(errno);
#endif
  std::memset(begin, 0, size);
  return "";
}

}  // namespace

std::unique_ptr<Memory> allocate_touched_host(std::int64_t bytes, const TakingHost& how) {
  constexpr std::int64_t chunk = std::int64_t{256} << 20;
  const std::int64_t left = how.believes_estimate ? free_host_bytes(how.root) : left_by_cgroups(how.root);
  if (bytes > left)
    fail_to_take(bytes, 0,
                 format("{} are free, of the machine or within its cgroup's limit", format_bytes(left)));
  auto memory = std::make_unique<HostMemory>(bytes);
  for (std::int64_t taken = 0; taken < bytes; taken += chunk) {
    const std::int64_t next = std::min(chunk, bytes - taken);
    if (!comes_free(next, how))
      fail_to_take(bytes, taken, format("then {} were free", format_bytes(free_host_bytes(how.root))));
    if (const std::string wrong = touch(memory->data() + taken, next); !wrong.empty())
      fail_to_take(bytes, taken, wrong);
  }
  return memory;
}

}  // namespace voxswap::net
