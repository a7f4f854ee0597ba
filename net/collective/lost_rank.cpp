#include "net/collective/lost_rank.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace voxswap::net {

namespace {

ino_t process_numbers() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// A single write(), because other ranks write too and MPI may end this process at any time.
void write_message(const Member& lost) {
  std::array<char, 256> machine{}, text{};
  ::gethostname(machine.data(), machine.size() - 1);
  const int size =
      std::snprintf(text.data(), text.size(),
                    "error: rank %d on %.100s was lost (process %d): it ended without a message, as when "
                    "it is killed. The same command with --resume continues a run\n",
                    lost.rank, machine.data(), static_cast<int>(lost.process));
  if (::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(size)) < 0) return;  // stderr is closed
}

}  // namespace

void describe_this_process(Member& member, int rank) {
  member.process = ::getpid();
  member.process_numbers = process_numbers();
  member.rank = rank;
  member.parted = false;
  member.lost_rank_reported = false;
}

LostRankWatch::LostRankWatch(std::vector<Member*> members, std::size_t mine)
    : members_(std::move(members)),
      mine_(mine),
      end_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { watch(); }) {}

LostRankWatch::~LostRankWatch() {
  const std::uint64_t one = 1;
  if (::write(end_, &one, sizeof one) == sizeof one) thread_.join();
  ::close(end_);
}

void LostRankWatch::watch() {
  std::vector<pollfd> waiting = {{end_, POLLIN, 0}};
  std::vector<const Member*> watched = {nullptr};
  for (const Member* member : members_) {
    if (member == members_[mine_] || member->process_numbers != members_[mine_]->process_numbers) continue;
    const auto process = static_cast<int>(::syscall(SYS_pidfd_open, member->process, 0));
    if (process < 0) continue;  // an older kernel
    waiting.push_back({process, POLLIN, 0});
    watched.push_back(member);
  }
  while ((::poll(waiting.data(), waiting.size(), -1) >= 0 || errno == EINTR) && waiting[0].revents == 0)
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      waiting[i].fd = ~waiting[i].fd;  // poll() skips it
      waiting[i].revents = 0;
      if (!watched[i]->parted && !members_.front()->lost_rank_reported.exchange(true))
        write_message(*watched[i]);
    }
  for (std::size_t i = 1; i < waiting.size(); ++i)
    ::close(waiting[i].fd < 0 ? ~waiting[i].fd : waiting[i].fd);
}

}  // namespace voxswap::net
