#include "base/progress.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/terminal.h"

namespace voxswap {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double redraw_seconds = 0.1;
constexpr double line_seconds = 30;  // enough for a log file

std::atomic<bool> all_quiet = false;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void set_quiet(bool quiet) {
  all_quiet = quiet;
}

Progress::Progress(std::string what, std::string unit, std::int64_t total, std::int64_t done,
                   std::optional<double> expected)
    : state_{std::move(what), std::move(unit), done, total, 0, {}, ""},
      before_(done),
      expected_(expected),
      start_(Clock::now()),
      drawn_(start_),
      terminal_(draws_on_terminal()) {
  if (terminal_) draw();
}

Progress::~Progress() {
  if (terminal_) clear_line();
}

void Progress::advance(std::int64_t by, const std::string& note) {
  state_.done += by;
  state_.note = note;
  const auto now = Clock::now();
  if (seconds_between(drawn_, now) < (terminal_ ? redraw_seconds : line_seconds)) return;
  drawn_ = now;
  draw();
}

void Progress::expect(double seconds_left) {
  expected_ = seconds_left;
}

void Progress::draw() {
  if (all_quiet || state_.total <= 0) return;
  const double elapsed = seconds_between(start_, Clock::now());
  const auto made = static_cast<double>(state_.done - before_);
  state_.rate = elapsed > 0 ? made / elapsed : 0;
  state_.seconds_left = expected_;
  if (!expected_ && state_.rate > 0)
    state_.seconds_left =
        static_cast<double>(std::max<std::int64_t>(state_.total - state_.done, 0)) / state_.rate;
  if (terminal_)
    draw_line(progress_line(state_, screen().columns - 1));  // a full line would wrap on some terminals
  else
    log::info("{}: {}", state_.what, progress_figures(state_));
}

Doing::Doing(const std::string& what) {
  if (all_quiet) return;
  if (draws_on_terminal())
    draw_line(cut_to_width(what + " ...", screen().columns - 1));
  else
    log::info("{} ...", what);
}

Doing::~Doing() {
  clear_line();
}

}  // namespace voxswap
