#include "pipeline/cases/prefetch.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "base/error.h"

namespace voxswap::pipeline {

struct Prefetcher::State {
  std::size_t count, depth;
  Produce produce;

  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  std::map<std::size_t, Sample> ready;
  std::vector<Sample> used;
  std::exception_ptr error;  // stops production; thrown after all earlier samples
  std::size_t failed = 0;    // index of the sample that failed
  bool stop = false;
  std::size_t begun = 0, taken = 0;
  double waited = 0;

  std::vector<std::thread> threads;  // last, because they use all of the above

  // Index of the next sample to start, or `count` if there is none.
  std::size_t claim() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stop || error || begun == count || begun < taken + depth; });
    return stop || error || begun == count ? count : begun++;
  }

  Sample take_used() {
    const std::lock_guard lock(mutex);
    if (used.empty()) return {};
    Sample sample = std::move(used.back());
    used.pop_back();
    return sample;
  }

  void run() {
    for (std::size_t i = claim(); i < count; i = claim()) {
      try {
        Sample sample = produce(i, take_used());
        const std::lock_guard lock(mutex);
        ready.emplace(i, std::move(sample));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || i < failed) {
          error = std::current_exception();
          failed = i;
        }
      }
      changed.notify_all();
    }
  }
};

Prefetcher::Prefetcher(std::size_t count, Produce produce, std::size_t depth, std::size_t threads)
    : state_(std::make_unique<State>()) {
  state_->count = count;
  state_->depth = std::max<std::size_t>(depth, 1);
  state_->produce = std::move(produce);
  const std::size_t wanted = std::max<std::size_t>(threads, 1);
  state_->threads.reserve(wanted);
  try {
    while (state_->threads.size() < wanted)
      state_->threads.emplace_back([state = state_.get()] { state->run(); });
  } catch (const std::bad_alloc&) {
    if (state_->threads.empty()) throw;
  } catch (const std::exception& error) {
    // Fewer threads are only slower; without any, next() would wait forever.
    if (state_->threads.empty())
      fail(Exit::failed, "no thread can be started to load data: {}. End other programs or raise ulimit -u",
           error.what());
  }
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

Sample Prefetcher::next(Sample used) {
  const auto begin = std::chrono::steady_clock::now();
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (!used.image.empty()) state.used.push_back(std::move(used));
  assert(state.taken < state.count || state.error);
  state.changed.wait(lock, [&] {
    return state.ready.contains(state.taken) || (state.error && state.taken >= state.failed);
  });
  state.waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto first = state.ready.find(state.taken);
  if (first == state.ready.end()) std::rethrow_exception(state.error);
  Sample sample = std::move(first->second);
  state.ready.erase(first);
  ++state.taken;
  lock.unlock();
  state.changed.notify_all();
  return sample;
}

bool Prefetcher::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ready.contains(state_->taken);
}

double Prefetcher::waited_seconds() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waited;
}

}  // namespace voxswap::pipeline
