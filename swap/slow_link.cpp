#include "swap/slow_link.h"

#include <thread>

namespace voxswap {
namespace {

// A copy that begins so soon after the last deadline was waiting for it: the delay is the machine's (threads
// that wake late), not a pause of the link.
constexpr std::chrono::milliseconds late_waking{1};

}  // namespace

SlowLink::SlowLink(Backend& backend, double bytes_per_second)
    : rate_(bytes_per_second),
      mark_(*this),
      copied_(backend.make_event()),
      stream_(backend.make_host_stream()) {}

std::size_t SlowLink::add_copy(std::int64_t bytes) {
  holds_.emplace_back(*this, static_cast<double>(bytes) / rate_);
  return holds_.size() - 1;
}

void SlowLink::hold(std::size_t number, Stream& copies, Event& begun, Event& held) {
  stream_->wait(begun);
  stream_->launch(mark_, {});
  copies.record(*copied_);
  stream_->wait(*copied_);
  stream_->launch(holds_[number], {});
  stream_->record(held);
  copies.wait(held);
}

void SlowLink::Mark::run(const KernelArguments&) {
  const Clock::time_point now = Clock::now();
  if (now - link.deadline_ > late_waking) link.deadline_ = now;
}

void SlowLink::Hold::run(const KernelArguments&) {
  link.deadline_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::this_thread::sleep_until(link.deadline_);
}

}  // namespace voxswap
