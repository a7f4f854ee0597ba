// Simulates a slower link: copies run at full speed, and their lane is then blocked until the link would have
// finished.
//
// The waiting is done on a host stream, the lane's `control`, so that it works for any device: what a copy
// waits for, its begin and its end are enqueued there, and the copy itself on the stream of copies between
// the two. A running deadline makes copies that follow one another take exactly bytes / rate together: what
// one sleep takes too long, the next takes less.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "net/backends/backend.h"

namespace voxswap::swap {

class SlowLink {
 public:
  using Clock = std::chrono::steady_clock;
  // What tells the time and lets it pass.
  struct Time {
    std::function<Clock::time_point()> now;
    std::function<void(Clock::time_point)> sleep_until;
  };
  static Time real_time();

  // A copy that begins so soon after the one before was ready when that ended: the link did not pause.
  static constexpr std::chrono::microseconds at_once{100};

  SlowLink(net::Backend& backend, double bytes_per_second, Time time = real_time());

  // A copy of so many bytes; returns its number. All are added before the first begins.
  std::size_t add_copy(std::int64_t bytes);

  net::Stream& control() { return *control_; }
  // Around the copy of that number on `copies`. REQUIRES: `begun` was just recorded on control().
  void begin(net::Stream& copies, net::Event& begun);
  void end(net::Stream& copies, std::size_t number);

 private:
  struct Begin : net::Kernel {
    explicit Begin(SlowLink& owner) : link(owner) {}
    void run(const net::KernelArguments&) override;
    SlowLink& link;
  };
  struct Hold : net::Kernel {
    Hold(SlowLink& owner, double the_seconds) : link(owner), seconds(the_seconds) {}
    void run(const net::KernelArguments&) override;
    SlowLink& link;
    double seconds;
  };

  double rate_;
  Time time_;
  Begin begin_;
  std::vector<Hold> holds_;
  // Used by the control stream only: when the last copy should have been done, and when it was let go.
  Clock::time_point deadline_, let_go_;
  std::unique_ptr<net::Event> copied_;
  std::unique_ptr<net::Stream> control_;  // last: ends first, and drains
};

}  // namespace voxswap::swap
