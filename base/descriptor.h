// Files opened by descriptor. Short reads and writes are continued, interrupted calls are repeated. Errors
// keep their cause: a full disk, lack of memory and a failing device end in different exit codes.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "base/error.h"

namespace voxswap {

// Exit code for an error number of the system: does_not_fit when disk or memory ran out, else failed.
Exit exit_of(int system_error);

// Repeats a system call while a signal interrupts it (EINTR). `call` returns less than 0 and sets errno on
// failure. Gives up after 1000 interruptions: a file system that returns nothing else is broken.
template <class Call>
auto uninterrupted(Call call) {
  constexpr int most_interruptions = 1000;
  auto result = call();
  for (int i = 0; result < 0 && errno == EINTR && i < most_interruptions; ++i) result = call();
  return result;
}

// Owns an open file and closes it on destruction.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}  // must be open
  // Like open(2), with close-on-exec. On failure number() is -1 and error() is the error number.
  Descriptor(const std::string& path, int flags);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  int error() const { return error_; }
  int release();  // gives up ownership; the caller must close it
  int close();    // 0, or the error number that says why earlier writes are lost

 private:
  int number_ = -1, error_ = 0;
};

// Returns 0 when all bytes are written, else the error number. Always terminates: repeated interruptions are
// an error too.
int write_all(int descriptor, const void* bytes, std::size_t size);

// Returns the number of bytes read, fewer than `size` only at the end of the file, or -1 with errno set.
ssize_t read_up_to(int descriptor, void* bytes, std::size_t size);

// Flushes the file to the device (fsync). Returns 0 or the error number.
int sync(int descriptor);

// Flushes a folder's entries, so that a new file name survives a power cut.
int sync_folder(const std::string& folder);

}  // namespace voxswap
