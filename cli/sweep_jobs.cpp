#include "cli/sweep_jobs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/folder_lock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/tables.h"
#include "net/collective/launched.h"

namespace voxswap::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct Job {
  std::size_t index = 0;  // in the round
  const CellPlace* place = nullptr;
  std::int64_t claim = 0;
  Clock::time_point started;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }
};

class Jobs {
 public:
  Jobs(const experiments::Sweep& sweep, const std::vector<pipeline::RoundCell>& round,
       const std::vector<CellPlace>& places)
      : sweep_(sweep), round_(round), places_(places), statuses_(round.size()), table_(cells_of_round()) {
    for (std::size_t i = 0; i < round.size(); ++i) {
      const auto outcome = read_outcome(cell(i));
      if (outcome && is_settled(*outcome, sweep.command, round[i].until))
        statuses_[i] = {CellState::done, true, outcome, 0};
    }
  }

  bool run() {
    for (;;) {
      if (interrupted() || was_interrupted_elsewhere()) interrupt();
      collect();
      while (!interrupted_ && start_next()) {
      }
      if (running_.empty()) break;
      for (const Job& job : running_) statuses_[job.index].running_seconds = job.seconds();
      table_.show(statuses_);
      std::this_thread::sleep_for(poll_interval);
    }
    table_.finish(statuses_);
    return !interrupted_;
  }

 private:
  const experiments::SweepCell& cell(std::size_t index) const { return sweep_.cells[round_[index].cell]; }

  std::vector<const experiments::SweepCell*> cells_of_round() const {
    std::vector<const experiments::SweepCell*> cells;
    for (std::size_t i = 0; i < round_.size(); ++i) cells.push_back(&cell(i));
    return cells;
  }

  bool was_interrupted_elsewhere() const {
    return std::any_of(places_.begin(), places_.end(),
                       [](const CellPlace& place) { return place.runner->was_interrupted(); });
  }

  void interrupt() {
    if (interrupted_) return;
    interrupted_ = true;
    for (const Job& job : running_) job.place->runner->interrupt();
  }

  void collect() {
    for (std::size_t i = running_.size(); i-- > 0;) {
      const Job job = running_[i];
      const std::optional<int> exit = job.place->runner->poll();
      if (!exit) continue;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      if (job.place->runner->was_interrupted()) interrupt();
      settle(job, *exit);
    }
  }

  void settle(const Job& job, int exit) {
    CellStatus& status = statuses_[job.index];
    const std::int64_t until = round_[job.index].until;
    const bool stopped = interrupted_ && (exit == static_cast<int>(Exit::interrupted) || exit >= 128);
    if (stopped) {
      status.state = CellState::waiting;
      return;
    }
    status.outcome = end_cell(cell(job.index), exit, job.seconds(), until);
    status.state = is_settled(*status.outcome, sweep_.command, until) ? CellState::done : CellState::failed;
    table_.ended(job.index, status);
  }

  // Starts cells in order, so that small cells do not delay one that needs much memory indefinitely.
  bool start_next() {
    const auto next = std::find_if(statuses_.begin(), statuses_.end(), [](const CellStatus& status) {
      return status.state == CellState::waiting;
    });
    if (next == statuses_.end()) return false;
    const auto index = static_cast<std::size_t>(next - statuses_.begin());
    const pipeline::RoundCell& at = round_[index];
    for (const CellPlace& place : places_) {
      const std::int64_t claim = claim_of(cell(index), place.share);
      if (!is_free(place) || !has_room(place.share.machine, claim)) continue;
      begin_cell(cell(index), sweep_.command, at.reached);
      place.runner->start({static_cast<std::int64_t>(at.cell), at.until});
      running_.push_back({index, &place, claim, Clock::now()});
      statuses_[index].state = CellState::running;
      table_.started(index);
      return true;
    }
    return false;
  }

  bool is_free(const CellPlace& place) const {
    return std::none_of(running_.begin(), running_.end(),
                        [&](const Job& job) { return job.place == &place; });
  }

  // A machine without running cells accepts any cell.
  bool has_room(const std::string& machine, std::int64_t claim) const {
    std::int64_t taken = 0, all = 0;
    bool is_idle = true;
    for (const CellPlace& place : places_)
      if (place.share.machine == machine) all += place.share.host_bytes;
    for (const Job& job : running_) {
      if (job.place->share.machine != machine) continue;
      taken += job.claim;
      is_idle = false;
    }
    return is_idle || taken + claim <= all;
  }

  std::int64_t claim_of(const experiments::SweepCell& cell, const CellShare& share) const {
    if (places_.size() == 1) return 0;
    const pipeline::MemoryOptions& memory = cell.experiment.memory;
    return pipeline::claimed_bytes(pipeline::within_share(memory, {share.host_bytes, {}, ""}, share.on_gpus),
                                   share.on_gpus);
  }

  const experiments::Sweep& sweep_;
  const std::vector<pipeline::RoundCell>& round_;
  const std::vector<CellPlace>& places_;
  std::vector<CellStatus> statuses_;
  std::vector<Job> running_;
  bool interrupted_ = false;
  SweepTable table_;
};

}  // namespace

std::vector<CellPlace> cell_places(const experiments::Sweep& sweep, const SweepShares& here,
                                   net::Ranks& ranks) {
  std::vector<CellPlace> places;
  if (ranks.is_alone()) {
    for (std::size_t share = 0; share < here.shares.size(); ++share)
      places.push_back({run_here(sweep, here, share), {0, "", here.shares[share].host_bytes, here.on_gpus}});
    return places;
  }
  for (const CellShare& share : all_shares(ranks, here))
    places.push_back({share.rank == 0 ? run_here(sweep, here, net::launched_place().index)
                                      : run_on_rank(ranks, share.rank),
                      share});
  return places;
}

std::vector<CellStatus> recorded_cells(const experiments::Sweep& sweep) {
  std::vector<CellStatus> statuses(sweep.cells.size());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto outcome = read_outcome(sweep.cells[i]);
    if (!outcome) continue;
    statuses[i] = {CellState::waiting, true, outcome, 0};
    if (is_settled(*outcome, sweep.command))
      statuses[i].state = CellState::done;
    else if (outcome->exit != 0)
      statuses[i].state = CellState::failed;
  }
  return statuses;
}

bool run_cells(const experiments::Sweep& sweep, const std::vector<pipeline::RoundCell>& round,
               const std::vector<CellPlace>& places) {
  return Jobs(sweep, round, places).run();
}

constexpr const char *lock_prefix = ".sweep", *lock_suffix = ".lock";

SweepLock::SweepLock(const fs::path& folder, const std::string& part, bool waits)
    : file_(folder / (lock_prefix + (part.empty() ? "" : "-" + part) + lock_suffix)) {
  constexpr int patience = 1200;  // tenths of a second
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT, 0666);
  if (descriptor_ < 0) fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
  for (int tenths = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tenths) {
    const bool alive = holder_is_alive();
    if ((alive && !waits) || tenths > patience)
      fail(Exit::failed,
           "{}: another sweep is writing there. Wait until it ends, or choose another folder with --out",
           folder.string());
    if (tenths == 0 && !alive) log::info("waiting for the running cells of a killed sweep");
    throw_if_interrupted();
    ::usleep(100000);
  }
  const std::string me = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, me.data(), me.size(), 0) < 0)
    fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
}

SweepLock::~SweepLock() {
  ::close(descriptor_);
}

bool SweepLock::holder_is_alive() const {
  const pid_t holder = std::atoi(read_file(file_).c_str());
  return holder > 0 && (::kill(holder, 0) == 0 || errno == EPERM);
}

bool is_sweeping(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(lock_prefix) && name.ends_with(lock_suffix) && is_locked(entry.path())) return true;
  }
  return false;
}

}  // namespace voxswap::cli
