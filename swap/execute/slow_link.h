// Simulates a slower link: copies run at full speed, and their lane is then blocked until the link would have
// finished.
//
// A host stream per lane, `control`, does the waiting, so that it works for any device. The waits of a copy,
// its start and its end are enqueued on `control`, and the copy itself on the stream of copies in between. A
// running deadline makes consecutive copies take exactly bytes / rate together: if one sleep is too long, the
// next is shorter.
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
  // A clock and a sleep.
  struct Time {
    std::function<Clock::time_point()> now;
    std::function<void(Clock::time_point)> sleep_until;
  };
  static Time real_time();

  // A copy that starts within this time after the previous one follows it without a pause of the link.
  static constexpr std::chrono::microseconds at_once{100};

  SlowLink(net::Backend& backend, double bytes_per_second, Time time = real_time());

  // Adds a copy of so many bytes and returns its number. Add all copies before the first starts.
  std::size_t add_copy(std::int64_t bytes);

  net::Stream& control() { return *control_; }
  // Call before and after the copy of that number on `copies`. REQUIRES: `begun` was just recorded on
  // control().
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
  // Used by the control stream only: the deadline of the last copy, and when it was released.
  Clock::time_point deadline_, let_go_;
  std::unique_ptr<net::Event> copied_;
  std::unique_ptr<net::Stream> control_;  // last: ends first, and drains
};

}  // namespace voxswap::swap
