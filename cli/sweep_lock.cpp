#include "cli/sweep_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"

namespace voxswap::cli {

SweepLock::SweepLock(const fs::path& folder, const std::string& name, bool waits) : file_(folder / name) {
  constexpr int patience = 1200;  // tenths of a second
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT, 0666);
  if (descriptor_ < 0) fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
  for (int tenths = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tenths) {
    const bool lives = holder_lives();
    if ((lives && !waits) || tenths > patience)
      fail(Exit::failed,
           "{}: another sweep is writing there. Wait until it ends, or choose another folder with --out",
           folder.string());
    if (tenths == 0 && !lives) log::info("waiting for the running cells of a killed sweep");
    throw_if_interrupted();
    ::usleep(100000);
  }
  const std::string me = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, me.data(), me.size(), 0) < 0)
    fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
}

SweepLock::~SweepLock() {
  ::close(descriptor_);
}

bool SweepLock::holder_lives() const {
  const pid_t holder = std::atoi(read_file(file_).c_str());
  return holder > 0 && (::kill(holder, 0) == 0 || errno == EPERM);
}

}  // namespace voxswap::cli
