// A rank that waits for another polls with growing sleeps, up to 0.2 ms. MPI's own waiting is a busy loop,
// which takes a core from other ranks that share it.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <thread>

#include "net/collective/launched.h"
#include "net/collective/lost_rank.h"

namespace voxswap::net {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;  // largest message: MPI counts in int

void wait_for(MPI_Request& request) {
  constexpr int looks = 200;  // polls before the first sleep
  constexpr std::chrono::microseconds longest(200);
  std::chrono::microseconds pause(1);
  for (int look = 0;; ++look) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (look < looks) continue;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest);
  }
}

class MpiRanks final : public Ranks {
 public:
  // REQUIRES: MPI has been started.
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &on_this_machine_);
    MPI_Comm_rank(machine, &index_on_this_machine_);
    share_members(machine);
    MPI_Comm_free(&machine);
  }
  // Marks that this rank ends on purpose.
  void part() { member_->parted = true; }

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  int on_this_machine() const override { return on_this_machine_; }
  int index_on_this_machine() const override { return index_on_this_machine_; }

  void send(int to, const void* bytes, std::int64_t count) override {
    for (std::int64_t from = 0; from < count; from += most_bytes) {
      MPI_Request request = begin_to_send(to, bytes, from, count);
      wait_for(request);
    }
  }
  void receive(int from, void* bytes, std::int64_t count) override {
    for (std::int64_t begin = 0; begin < count; begin += most_bytes) {
      MPI_Request request = begin_to_receive(from, bytes, begin, count);
      wait_for(request);
    }
  }
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) override {
    for (std::int64_t from = 0; from < sent_count || from < received_count; from += most_bytes) {
      MPI_Request coming = MPI_REQUEST_NULL, going = MPI_REQUEST_NULL;  // null: nothing to wait for
      if (from < received_count) coming = begin_to_receive(other, received, from, received_count);
      if (from < sent_count) going = begin_to_send(other, sent, from, sent_count);
      wait_for(coming);
      wait_for(going);
    }
  }

  bool has_sent(int from) override {
    int found = 0;
    MPI_Iprobe(from, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    return found != 0;
  }

  void leave() override {
    if (voxswap_has_left_mpi()) return;
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    wait_for(all);  // sleeps, unlike MPI_Finalize
    part();
    watch_.reset();
    MPI_Win_free(&members_);
    MPI_Finalize();
  }

 private:
  void share_members(MPI_Comm machine) {
    MPI_Win_allocate_shared(sizeof(Member), 1, MPI_INFO_NULL, machine, &member_, &members_);
    describe_this_process(*new (member_) Member, rank_);
    MPI_Barrier(machine);
    std::vector<Member*> all;
    for (int one = 0; one < on_this_machine_; ++one) {
      MPI_Aint size = 0;
      int unit = 0;
      MPI_Win_shared_query(members_, one, &size, &unit, &all.emplace_back());
    }
    watch_.emplace(std::move(all), static_cast<std::size_t>(index_on_this_machine_));
  }

  // Starts the next message of at most most_bytes, from byte `from` on.
  static MPI_Request begin_to_send(int to, const void* bytes, std::int64_t from, std::int64_t count) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(static_cast<const char*>(bytes) + from, static_cast<int>(std::min(most_bytes, count - from)),
              MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
    return request;
  }
  static MPI_Request begin_to_receive(int from, void* bytes, std::int64_t begin, std::int64_t count) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(static_cast<char*>(bytes) + begin, static_cast<int>(std::min(most_bytes, count - begin)),
              MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    return request;
  }

  Member* member_ = nullptr;
  MPI_Win members_ = MPI_WIN_NULL;
  std::optional<LostRankWatch> watch_;
  int rank_ = 0, count_ = 1, on_this_machine_ = 1, index_on_this_machine_ = 0;
};

MpiRanks* joined = nullptr;

// Ends the process when its parent, the launcher, is gone. MPI reacts to a killed launcher with exit(), which
// may hang on threads that still run.
void end_with_launcher(pid_t launcher) {
  while (getppid() == launcher) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  if (joined != nullptr) joined->part();
  _exit(1);
}

}  // namespace

Ranks* voxswap_join_mpi() {
  std::thread(end_with_launcher, getppid()).detach();
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
  if (given < MPI_THREAD_SERIALIZED) return nullptr;
  joined = new MpiRanks;  // never freed
  return joined;
}

bool voxswap_has_left_mpi() {
  int left = 0;
  MPI_Finalized(&left);
  return left != 0;
}

void voxswap_abort_mpi(int exit_code) {
  if (voxswap_has_left_mpi()) return;
  joined->part();
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

}  // namespace voxswap::net
