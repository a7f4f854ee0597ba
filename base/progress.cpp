#include "base/progress.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"

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

// Avoids repeated messages, for example in a search.
static bool is_first_time(const std::string& what) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  return said.insert(what).second;
}

Doing::Doing(const std::string& what) {
  if (all_quiet) return;
  if (draws_on_terminal())
    draw_line(cut_to_width(what + " ...", screen().columns - 1));
  else if (is_first_time(what))
    log::info("{} ...", what);
}

Doing::~Doing() {
  clear_line();
}

namespace {

constexpr std::size_t longest_bar = 24, shortest_bar = 6;

std::string one_of(const std::string& unit) {
  return unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit;
}

std::string rate_text(const ProgressState& state) {
  if (state.rate <= 0) return "";
  if (state.rate >= 1) return format("{:.2f} {}/s", state.rate, state.unit);
  const double seconds = 1 / state.rate;
  return format("{}/{}", seconds < 60 ? format("{:.2f} s", seconds) : format_seconds(seconds),
                one_of(state.unit));
}

std::string left_text(const ProgressState& state) {
  return state.seconds_left ? format_seconds(*state.seconds_left) + " left" : "";
}

std::string joined(std::vector<std::string> parts) {
  std::erase(parts, "");
  return join(parts, ", ");
}

std::string bar(const ProgressState& state, std::size_t width) {
  const std::int64_t all = std::max<std::int64_t>(state.total, 1),
                     done = std::clamp<std::int64_t>(state.done, 0, all);
  const auto filled = static_cast<std::size_t>(static_cast<double>(width) * static_cast<double>(done) /
                                               static_cast<double>(all));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

}  // namespace

std::string progress_figures(const ProgressState& state) {
  return joined({format("{}/{} {}", state.done, state.total, state.unit), rate_text(state), left_text(state),
                 state.note});
}

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const std::string count = format("{}/{}", state.done, state.total), counted = count + " " + state.unit;
  // From longest to shortest.
  const std::vector<std::string> choices = {
      progress_figures(state), joined({counted, rate_text(state), left_text(state)}),
      joined({counted, left_text(state)}), joined({count, left_text(state)}), count};
  for (const std::string& figures : choices) {
    const std::size_t bare = shown_width(state.what) + 1 + shown_width(figures);
    if (bare > columns) continue;
    const std::size_t room = columns - bare;  // for the bar, its brackets and a space
    if (room < shortest_bar + 3) return state.what + " " + figures;
    return state.what + " " + bar(state, std::min(longest_bar, room - 3)) + " " + figures;
  }
  return cut_to_width(state.what + " " + count, columns);
}

}  // namespace voxswap
