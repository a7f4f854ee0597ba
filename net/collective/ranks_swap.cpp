// By itself, because MPI's module (mpi_ranks.h) is made of it as well: what a compiler notes of a class it
// puts beside the first of its functions, and the module takes nothing from the program.
#include "net/collective/ranks.h"

namespace voxswap::net {

// One after the other, so that no two wait for each other.
void Ranks::swap(int other, const void* sent, std::int64_t sent_count, void* received,
                 std::int64_t received_count) {
  const bool sends_first = rank() < other;
  if (sends_first && sent_count > 0) send(other, sent, sent_count);
  if (received_count > 0) receive(other, received, received_count);
  if (!sends_first && sent_count > 0) send(other, sent, sent_count);
}

}  // namespace voxswap::net
