#include "cli/cell_runner.h"

#include <thread>

#include "base/folder_lock.h"
#include "base/interrupt.h"
#include "cli/child_process.h"
#include "cli/sweep_cell.h"

namespace voxswap::cli {

namespace {

// A cell left by a killed sweep stops at a checkpoint. If it does not stop in time, starting the cell reports
// it.
void wait_for_who_was_there(const fs::path& folder) {
  constexpr int patience = 3000;  // polls: one minute
  for (int look = 0; look < patience && is_held(folder) && !interrupted(); ++look)
    std::this_thread::sleep_for(poll_interval);
}

class RunsHere final : public CellRunner {
 public:
  RunsHere(const experiments::Sweep& sweep, const SweepShares& shares, std::size_t share)
      : sweep_(sweep), shares_(shares), share_(shares.shares[share]) {}

  void start(const CellTask& task) override {
    const experiments::SweepCell& cell = sweep_.cells[static_cast<std::size_t>(task.cell)];
    wait_for_who_was_there(cell.experiment.output);
    ChildRequest request;
    request.arguments =
        cell_arguments(cell, sweep_.command, share_overrides(cell, shares_, share_), task.until);
    request.log = cell_log(cell);
    request.gpu = share_.gpu;
    if (shares_.shares.size() > 1) request.cores = share_.cores;
    child_ = start_child(request);
  }
  std::optional<int> poll() override {
    const std::optional<int> exit = child_ == 0 ? std::nullopt : poll_child(child_);
    if (exit) child_ = 0;
    return exit;
  }
  void interrupt() override {
    if (child_ != 0) interrupt_child(child_);
  }

 private:
  const experiments::Sweep& sweep_;
  const SweepShares& shares_;
  const pipeline::MachineShare& share_;
  pid_t child_ = 0;
};

// Message from rank 0 to another rank: a task, or one of these in place of its cell.
constexpr std::int64_t stop = -1, go_home = -2;

struct Ending {
  std::int64_t exit = 0, interrupted = 0;
};

class RunsOnRank final : public CellRunner {
 public:
  RunsOnRank(net::Ranks& ranks, int rank) : ranks_(ranks), rank_(rank) {}

  void start(const CellTask& task) override { tell(task); }
  std::optional<int> poll() override {
    if (!ranks_.has_sent(rank_)) return std::nullopt;
    Ending ending;
    ranks_.receive(rank_, &ending, sizeof ending);
    was_interrupted_ = was_interrupted_ || ending.interrupted != 0;
    return static_cast<int>(ending.exit);
  }
  void interrupt() override { tell({stop, 0}); }
  bool was_interrupted() const override { return was_interrupted_; }
  void dismiss() override { tell({go_home, 0}); }

 private:
  void tell(const CellTask& task) { ranks_.send(rank_, &task, sizeof task); }

  net::Ranks& ranks_;
  int rank_;
  bool was_interrupted_ = false;
};

}  // namespace

std::unique_ptr<CellRunner> run_here(const experiments::Sweep& sweep, const SweepShares& shares,
                                     std::size_t share) {
  return std::make_unique<RunsHere>(sweep, shares, share);
}

std::unique_ptr<CellRunner> run_on_rank(net::Ranks& ranks, int rank) {
  return std::make_unique<RunsOnRank>(ranks, rank);
}

void serve_cells(net::Ranks& ranks, CellRunner& here) {
  for (bool interrupt_sent = false, must_stop = false;; std::this_thread::sleep_for(poll_interval)) {
    if (ranks.has_sent(0)) {
      CellTask task;
      ranks.receive(0, &task, sizeof task);
      if (task.cell == go_home) return;
      if (task.cell >= 0) here.start(task);
      interrupt_sent = interrupt_sent && task.cell < 0;
      must_stop = task.cell == stop;
    }
    if ((must_stop || interrupted()) && !interrupt_sent) {
      here.interrupt();
      interrupt_sent = true;
    }
    if (const std::optional<int> exit = here.poll()) {
      const Ending ending = {*exit, interrupted() ? 1 : 0};
      ranks.send(0, &ending, sizeof ending);
    }
  }
}

}  // namespace voxswap::cli
