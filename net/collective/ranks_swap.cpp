// A separate file because MPI's module (launched.h) contains it too. The compiler emits a class's vtable
// with its first virtual function, and the module links nothing from the program.
#include "net/collective/ranks.h"

namespace voxswap::net {

// One direction after the other, to avoid deadlock.
void Ranks::swap(int other, const void* sent, std::int64_t sent_count, void* received,
                 std::int64_t received_count) {
  const bool sends_first = rank() < other;
  if (sends_first && sent_count > 0) send(other, sent, sent_count);
  if (received_count > 0) receive(other, received, received_count);
  if (!sends_first && sent_count > 0) send(other, sent, sent_count);
}

}  // namespace voxswap::net
