#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap {

namespace {

std::atomic<bool> all_quiet = false;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void set_quiet(bool quiet) { all_quiet = quiet; }

Progress::Progress(std::string what, std::string unit, std::int64_t total)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), start_(std::chrono::steady_clock::now()),
      drawn_(start_), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (on_screen_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(std::int64_t by, const std::string& note) {
  done_ += by;
  note_ = note;
  const auto now = std::chrono::steady_clock::now();
  // A line every half minute is enough for a log file.
  if (seconds_between(drawn_, now) < (terminal_ ? 0.1 : 30.0)) return;
  drawn_ = now;
  draw(false);
}

void Progress::draw(bool) {
  if (all_quiet || total_ <= 0) return;
  const double elapsed = seconds_between(start_, std::chrono::steady_clock::now());
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  const std::string figures = format("{}/{} {}, {:.2f} {}/s, {} left{}{}", done_, total_, unit_, rate, unit_,
                                     format_seconds(left), note_.empty() ? "" : ", ", note_);
  if (!terminal_) {
    log::info("{}: {}", what_, figures);
    return;
  }
  constexpr int width = 24;
  const int filled = static_cast<int>(std::clamp<std::int64_t>(done_ * width / total_, 0, width));
  std::fputs(format("\r\033[K{} [{}{}] {}", what_, std::string(static_cast<size_t>(filled), '#'),
                    std::string(static_cast<size_t>(width - filled), '.'), figures)
                 .c_str(),
             stderr);
  std::fflush(stderr);
  on_screen_ = true;
}

}  // namespace voxswap
