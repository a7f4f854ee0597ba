// Names a rank that ended without a message, as one that was killed does: the launcher ends the others, but
// its own message does not always say which rank was lost.
//
// A thread of each rank waits for the end of the other ranks on its machine. The first one that sees it
// writes a message. What ranks know of each other is in memory that they share.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <thread>
#include <vector>

namespace voxswap::net {

// In shared memory, one per rank on a machine.
struct Member {
  pid_t process = 0;
  ino_t process_numbers = 0;       // the namespace in which that is its number
  int rank = 0;                    // among those of all machines
  std::atomic<bool> parted;        // it needs no message: it left the others, or has told them why it ends
  std::atomic<bool> lost_is_told;  // of the first member: about a rank of this machine
};
void describe_this_process(Member& member, int rank);

class LostRankWatch {
 public:
  // `members`: of this machine; they outlive it. `mine`: which of them this is.
  LostRankWatch(std::vector<Member*> members, std::size_t mine);
  ~LostRankWatch();  // the last that is looked at
  LostRankWatch(const LostRankWatch&) = delete;
  LostRankWatch& operator=(const LostRankWatch&) = delete;

 private:
  void watch();

  std::vector<Member*> members_;
  std::size_t mine_;
  int end_;  // wakes the thread
  std::thread thread_;
};

}  // namespace voxswap::net
