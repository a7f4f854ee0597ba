// Open files by their number in the system. What the system cuts short or interrupts is taken up again, and
// what went wrong keeps its reason: a full disk, a lack of memory and a failing device end in different exit
// codes.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>

#include "base/error.h"
#include "base/filesystem.h"

namespace voxswap {

// The exit code that an error number of the system stands for: does_not_fit where disk or memory ran out,
// else failed.
Exit exit_of(int system_error);

// Repeats a call of the system, which is to return less than 0 and set errno where it fails, while it is
// interrupted. A signal interrupts a call once; a file system that answers nothing else is broken, and the
// thousandth time is an error.
template <class Call>
auto uninterrupted(Call call) {
  constexpr int most_interruptions = 1000;
  auto result = call();
  for (int i = 0; result < 0 && errno == EINTR && i < most_interruptions; ++i) result = call();
  return result;
}

// Owns an open file; closes it at its end.
class Descriptor {
 public:
  Descriptor() = default;
  // As open(2), closed in child processes; number() is -1 and error() says why where it cannot be opened.
  Descriptor(const fs::path& path, int flags);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  int error() const { return error_; }
  int release();  // the caller closes it from now on
  int close();    // 0, or the error number with which what was written before is lost

 private:
  int number_ = -1, error_ = 0;
};

// 0 when all bytes are written, else the error number. Gives up where nothing but interruptions come, so that
// it ends.
int write_all(int descriptor, const void* bytes, std::size_t size);

// Bytes read, fewer than `size` only at the end of the file; -1 with errno set when reading fails.
ssize_t read_up_to(int descriptor, void* bytes, std::size_t size);

// 0 when everything written to it has reached the device, else the error number.
int sync(int descriptor);

// The same for the names in a folder: a new one, too, has to outlive a power cut.
int sync_folder(const fs::path& folder);

}  // namespace voxswap
