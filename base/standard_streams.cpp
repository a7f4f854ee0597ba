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

int first_error = 0;  // of writes to stdout

// True for a pipe without a reader or a closed terminal.
bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() returns the lowest free number, and all lower ones are open by now.
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

void print(std::string_view text) {
  print_exactly(printable(text));
}

void print_exactly(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() && first_error == 0)
    first_error = errno != 0 ? errno : EIO;
}

void check_standard_output() {
  if (std::fflush(stdout) != 0 && first_error == 0) first_error = errno;
  if (first_error == 0 || reader_is_gone()) return;
  fail(exit_of(first_error), "standard output: cannot be written: {}", std::strerror(first_error));
}

}  // namespace voxswap
