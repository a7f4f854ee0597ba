// Reports a rank that ended without a message, for example because it was killed: the launcher ends the other
// ranks, but its message does not always name the lost one.
//
// A thread of each rank waits for the other processes on its machine to end. The first thread that notices
// one writes a message. The ranks share their state in shared memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <thread>
#include <vector>

namespace voxswap::net {

// In shared memory, one per rank on a machine.
struct Member {
  pid_t process = 0;
  ino_t process_numbers = 0;             // PID namespace of `process`
  int rank = 0;                          // among those of all machines
  std::atomic<bool> parted;              // needs no message: it left, or reported why it ends
  std::atomic<bool> lost_rank_reported;  // in the first member: a lost rank of this machine was reported
};
void describe_this_process(Member& member, int rank);

class LostRankWatch {
 public:
  // `members`: the ranks of this machine; must outlive this object. `mine`: index of this rank among them.
  LostRankWatch(std::vector<Member*> members, std::size_t mine);
  ~LostRankWatch();  // does not use the members afterwards
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
