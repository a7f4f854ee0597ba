#include "net/backends/cuda/transfer_watch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

TransferWatch::TransferWatch(int ordinal, std::chrono::milliseconds limit, std::function<std::string()> error,
                             std::function<void(const std::string& message)> failed)
    : ordinal_(ordinal), limit_(limit), error_(std::move(error)), failed_(std::move(failed)), thread_([this] {
        watch();
      }) {}

TransferWatch::~TransferWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_one();
  thread_.join();
  for (const auto& events : {std::vector(running_.begin(), running_.end()), unused_})
    for (cudaEvent_t event : events) cudaEventDestroy(event);
}

void TransferWatch::enqueued(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (unused_.empty())
    check(cudaEventCreateWithFlags(&unused_.emplace_back(), cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  check(cudaEventRecord(unused_.back(), stream), "cudaEventRecord");
  running_.push_back(unused_.back());
  unused_.pop_back();
}

// Transfers on one stream end in their order.
bool TransferWatch::some_ended() {
  bool ended = running_.empty();
  while (!running_.empty() && cudaEventQuery(running_.front()) == cudaSuccess) {
    unused_.push_back(running_.front());
    running_.pop_front();
    ended = true;
  }
  return ended;
}

void TransferWatch::watch() {
  using Clock = std::chrono::steady_clock;
  cudaSetDevice(ordinal_);
  const auto pause = std::min<std::chrono::milliseconds>(limit_ / 4, std::chrono::milliseconds(200));
  auto last = Clock::now();
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, pause, [this] { return ends_; })) {
    if (some_ended()) last = Clock::now();
    std::string message = error_();
    if (message.empty() && Clock::now() - last > limit_)
      message = format("no data from other ranks for {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(limit_).count());
    if (message.empty()) continue;
    lock.unlock();
    return failed_(message);
  }
}

}  // namespace voxswap::net::cuda
