#include "cli/sweep_jobs.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/child_process.h"
#include "cli/sweep_table.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"

namespace voxswap::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds(20);

struct Job {
  std::size_t cell = 0, share = 0;
  pid_t child = 0;
  std::int64_t claim = 0;
  Clock::time_point started;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }
};

class Jobs {
 public:
  Jobs(const experiments::Sweep& sweep, const SweepShares& shares)
      : sweep_(sweep), shares_(shares), statuses_(sweep.cells.size()), table_(sweep) {}

  std::vector<CellStatus> run() {
    take_up();
    for (;;) {
      if (interrupted()) interrupt();
      collect();
      while (!interrupted_ && start_next()) {
      }
      if (running_.empty()) break;
      for (const Job& job : running_) statuses_[job.cell].running_seconds = job.seconds();
      table_.show(statuses_);
      std::this_thread::sleep_for(poll_interval);
    }
    table_.finish(statuses_);
    return std::move(statuses_);
  }

 private:
  void take_up() {
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
      const auto outcome = read_outcome(sweep_.cells[i]);
      if (!outcome || !is_settled(*outcome, sweep_.command)) continue;
      statuses_[i] = {CellState::done, true, outcome, 0};
    }
  }

  void interrupt() {
    if (interrupted_) return;
    interrupted_ = true;
    for (const Job& job : running_) interrupt_child(job.child);
  }

  void collect() {
    for (std::size_t i = running_.size(); i-- > 0;) {
      const Job job = running_[i];
      const std::optional<int> exit = poll_child(job.child);
      if (!exit) continue;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      settle(job, *exit);
    }
  }

  void settle(const Job& job, int exit) {
    CellStatus& status = statuses_[job.cell];
    const bool stopped = interrupted_ && (exit == static_cast<int>(Exit::interrupted) || exit >= 128);
    if (stopped) {
      status.state = CellState::waiting;
      return;
    }
    status.outcome = end_cell(sweep_.cells[job.cell], exit, job.seconds());
    status.state = is_settled(*status.outcome, sweep_.command) ? CellState::done : CellState::failed;
    table_.ended(job.cell, status);
  }

  // In their order: a cell that needs much memory is not overtaken for ever by small ones.
  bool start_next() {
    const auto next = std::find_if(statuses_.begin(), statuses_.end(), [](const CellStatus& status) {
      return status.state == CellState::waiting;
    });
    const std::optional<std::size_t> share = free_share();
    if (next == statuses_.end() || !share) return false;
    const auto index = static_cast<std::size_t>(next - statuses_.begin());
    const std::int64_t claim = claim_of(index, *share);
    std::int64_t taken = 0;
    for (const Job& job : running_) taken += job.claim;
    if (!running_.empty() && taken + claim > shares_.host_bytes) return false;
    start(index, *share, claim);
    return true;
  }

  std::optional<std::size_t> free_share() const {
    for (std::size_t share = 0; share < shares_.shares.size(); ++share) {
      const auto used = [&](const Job& job) { return job.share == share; };
      if (std::none_of(running_.begin(), running_.end(), used)) return share;
    }
    return std::nullopt;
  }

  std::int64_t claim_of(std::size_t cell, std::size_t share) const {
    if (shares_.shares.size() == 1) return 0;
    const pipeline::MemoryOptions& memory = sweep_.cells[cell].experiment.run.memory;
    return pipeline::claimed_bytes(pipeline::within_share(memory, shares_.shares[share], shares_.on_gpus),
                                   shares_.on_gpus);
  }

  void start(std::size_t index, std::size_t share_index, std::int64_t claim) {
    const experiments::SweepCell& cell = sweep_.cells[index];
    const pipeline::MachineShare& share = shares_.shares[share_index];
    begin_cell(cell, sweep_.command);
    ChildRequest request;
    request.arguments = cell_arguments(cell, sweep_.command, share_overrides(cell, shares_, share));
    request.log = cell_log(cell);
    request.gpu = share.gpu;
    if (shares_.shares.size() > 1) request.cores = share.cores;
    running_.push_back({index, share_index, start_child(request), claim, Clock::now()});
    statuses_[index].state = CellState::running;
    table_.started(index);
  }

  const experiments::Sweep& sweep_;
  const SweepShares& shares_;
  std::vector<CellStatus> statuses_;
  std::vector<Job> running_;
  bool interrupted_ = false;
  SweepTable table_;
};

bool uses_gpus(const experiments::Sweep& sweep) {
  const std::string& device = sweep.cells[0].experiment.run.memory.device;
  return device == "cuda" || (device == "auto" && net::device_count("cuda") > 0);
}

}  // namespace

SweepShares share_machine(const experiments::Sweep& sweep, std::int64_t jobs, std::int64_t host_bytes) {
  pipeline::Machine machine = pipeline::this_machine();
  if (host_bytes > 0) machine.host_bytes = host_bytes;
  const std::string& device = sweep.cells[0].experiment.run.memory.device;
  for (const experiments::SweepCell& cell : sweep.cells) {
    const std::string& other = cell.experiment.run.memory.device;
    if (jobs > 1 && (other != device || other.starts_with("cuda:")))
      fail(
          Exit::usage,
          "--jobs {}: the cell {} asks for memory.device {}; cells that run at once get devices of their own "
          "from memory.device: cuda, or share a cpu",
          jobs, cell.name, other);
  }
  SweepShares result;
  result.on_gpus = uses_gpus(sweep);
  result.shares = pipeline::share_out(machine, jobs, result.on_gpus);
  result.host_bytes = machine.host_bytes;
  result.asked = jobs;
  if (static_cast<std::int64_t>(result.shares.size()) < jobs)
    log::warn("--jobs {}: {} at once, as many as have {} of their own", jobs, result.shares.size(),
              result.on_gpus ? "a GPU" : "a core");
  // A limit that was asked for holds for one cell at a time as well.
  if (result.shares.size() == 1 && host_bytes == 0) result.host_bytes = 0;
  return result;
}

std::vector<std::string> share_overrides(const experiments::SweepCell& cell, const SweepShares& shares,
                                         const pipeline::MachineShare& share) {
  if (shares.shares.size() == 1 && shares.host_bytes == 0) return {};
  if (!cell.question.as.empty()) return {};  // of a device that is not here nothing is shared
  const pipeline::MemoryOptions& asked = cell.experiment.run.memory;
  const pipeline::MemoryOptions settled = pipeline::within_share(asked, share, shares.on_gpus);
  std::vector<std::string> overrides;
  if (settled.budget_bytes != asked.budget_bytes)
    overrides.push_back(format("memory.budget={}B", *settled.budget_bytes));
  if (settled.host_bytes != asked.host_bytes)
    overrides.push_back(*settled.host_bytes > 0 ? format("memory.host={}B", *settled.host_bytes)
                                                : "memory.host=none");
  return overrides;
}

std::vector<CellStatus> run_cells(const experiments::Sweep& sweep, const SweepShares& shares) {
  return Jobs(sweep, shares).run();
}

}  // namespace voxswap::cli
