#include "swap/execute/slow_link.h"

#include <thread>
#include <utility>

namespace voxswap::swap {

SlowLink::Time SlowLink::real_time() {
  return {Clock::now, [](Clock::time_point until) { std::this_thread::sleep_until(until); }};
}

SlowLink::SlowLink(net::Backend& backend, double bytes_per_second, Time time)
    : rate_(bytes_per_second),
      time_(std::move(time)),
      begin_(*this),
      copied_(backend.make_event()),
      control_(backend.make_host_stream()) {}

std::size_t SlowLink::add_copy(std::int64_t bytes) {
  holds_.emplace_back(*this, static_cast<double>(bytes) / rate_);
  return holds_.size() - 1;
}

void SlowLink::begin(net::Stream& copies, net::Event& begun) {
  control_->launch(begin_, {});
  copies.wait(begun);
}

void SlowLink::end(net::Stream& copies, std::size_t number) {
  copies.record(*copied_);
  control_->wait(*copied_);
  control_->launch(holds_[number], {});
}

void SlowLink::Begin::run(const net::KernelArguments&) {
  const Clock::time_point now = link.time_.now();
  if (now - link.let_go_ > at_once) link.deadline_ = now;
}

void SlowLink::Hold::run(const net::KernelArguments&) {
  link.deadline_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  link.time_.sleep_until(link.deadline_);
  link.let_go_ = link.time_.now();
}

}  // namespace voxswap::swap
