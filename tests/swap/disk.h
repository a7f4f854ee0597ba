// Simulates a full disk.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace voxswap::test {

// During its lifetime, no file of this process can grow beyond so many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::int64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {static_cast<rlim_t>(bytes), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace voxswap::test
