// A slower link, imitated: copies are done at full speed, and their stream is then held until as much time
// has passed as the link would have taken.
//
// The waiting is done by a host stream of its own, so that it works for any device. A running deadline makes
// copies that follow one another take exactly bytes / rate together: what one sleep takes too long, the next
// takes less.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/backend.h"

namespace voxswap {

class SlowLink {
 public:
  SlowLink(Backend& backend, double bytes_per_second);

  // A copy of so many bytes; returns its number. All are added before the first is held.
  std::size_t add_copy(std::int64_t bytes);

  // Enqueues the wait for copy `number`: it lies on `copies` between `begun`, already recorded there, and
  // what is enqueued now. `held` happens when the link would be done, and `copies` goes on then.
  void hold(std::size_t number, Stream& copies, Event& begun, Event& held);

  void synchronize() { stream_->synchronize(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Mark : Kernel {  // the copy has begun
    explicit Mark(SlowLink& owner) : link(owner) {}
    void run(const KernelArguments&) override;
    SlowLink& link;
  };
  struct Hold : Kernel {
    Hold(SlowLink& owner, double the_seconds) : link(owner), seconds(the_seconds) {}
    void run(const KernelArguments&) override;
    SlowLink& link;
    double seconds;
  };

  double rate_;
  Clock::time_point deadline_;  // of the copy that is held now, or was last; of the host stream's thread
  Mark mark_;
  std::vector<Hold> holds_;
  std::unique_ptr<Event> copied_;
  std::unique_ptr<Stream> stream_;  // last: ends first, and drains
};

}  // namespace voxswap
