#include "data/prefetch.h"

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace voxswap {

struct Prefetcher::State {
  std::size_t count, depth;
  std::function<Sample(std::size_t)> produce;

  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  std::deque<Sample> ready;
  std::exception_ptr error;  // ends the production; thrown after what was ready before it
  bool stop = false;
  std::size_t taken = 0;
  double waited = 0;

  std::thread thread;  // last: it reads all of the above

  void run() {
    for (std::size_t i = 0; i < count; ++i) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || ready.size() < depth; });
        if (stop) return;
      }
      try {
        Sample sample = produce(i);
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(sample));
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
      changed.notify_all();
      if (const std::lock_guard lock(mutex); error) return;
    }
  }
};

Prefetcher::Prefetcher(std::size_t count, std::function<Sample(std::size_t)> produce, std::size_t depth)
    : state_(std::make_unique<State>()) {
  state_->count = count;
  state_->depth = depth > 0 ? depth : 1;
  state_->produce = std::move(produce);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

Sample Prefetcher::next() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(state_->mutex);
  assert(state_->taken < state_->count || state_->error);
  state_->changed.wait(lock, [&] { return !state_->ready.empty() || state_->error; });
  state_->waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (state_->ready.empty()) std::rethrow_exception(state_->error);
  Sample sample = std::move(state_->ready.front());
  state_->ready.pop_front();
  ++state_->taken;
  lock.unlock();
  state_->changed.notify_all();
  return sample;
}

double Prefetcher::waited_seconds() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waited;
}

}  // namespace voxswap
