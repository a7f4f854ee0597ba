// Ends the program with a message if its address space is too small (ulimit -v), since initialisers of
// libraries would crash. Runs before them through .preinit_array, which is only possible in an executable.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace voxswap::cli {
namespace {

void check_address_space(int, char**, char**) {
  constexpr std::size_t least = std::size_t{32} << 20;  // required by the initialisers
  void* const room = ::mmap(nullptr, least, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, least);
    return;
  }
  constexpr std::string_view message = "error: the memory limit is too low. Raise it (ulimit -v)\n";
  static_cast<void>(!::write(STDERR_FILENO, message.data(), message.size()));
  ::_exit(static_cast<int>(Exit::does_not_fit));
}
__attribute__((section(".preinit_array"),
               used)) void (*const before_initialisers)(int, char**, char**) = check_address_space;

}  // namespace
}  // namespace voxswap::cli
