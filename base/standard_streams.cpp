#include "base/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"

namespace voxswap {
namespace {

// A pipe without a reader, or a terminal that was closed.
bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is given, and those below are open by now.
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

void check_standard_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  const int error = std::fflush(stdout) == 0 ? 0 : errno;
  if ((error != 0 || failed_before) && reader_is_gone()) return;
  if (error != 0) fail(exit_of(error), "standard output: cannot be written: {}", std::strerror(error));
  if (failed_before) fail(Exit::failed, "standard output: some of the results could not be written");
}

}  // namespace voxswap
