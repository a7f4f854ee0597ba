// Streams and events of the emulated GPU (gpu.h).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace voxswap::emulation {

using Clock = std::chrono::steady_clock;

extern std::atomic<cudaError_t> broken;  // the error that all later calls return

cudaError_t record_error(cudaError_t status);  // notes errors for cudaGetLastError()

// Invalidates the capture of the stream or, for calls without a stream, of the calling thread, because the
// call is not allowed in captures. Returns cudaSuccess if there is no capture.
cudaError_t breaks_capture(cudaStream_t stream = nullptr,
                           cudaError_t status = cudaErrorStreamCaptureUnsupported);

}  // namespace voxswap::emulation

// A thread and its queue.
struct CUstream_st {
  explicit CUstream_st(unsigned seed) : random_(seed), thread_([this] { work(); }) {}
  ~CUstream_st() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;

  void enqueue(std::function<void()> command) {
    if (captured) return recorded.push_back(std::move(command));
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(command));
    }
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
  }

  // Commands enqueued during a capture; used only by the capturing thread.
  std::atomic<bool> captured = false, capture_is_broken = false;
  std::vector<std::function<void()>> recorded;

 private:
  void work() {
    for (;;) {
      std::function<void()> command;
      {
        std::unique_lock lock(mutex_);
        busy_ = false;
        if (queue_.empty()) changed_.notify_all();  // drain()
        changed_.wait(lock, [&] { return ends_ || !queue_.empty(); });
        if (queue_.empty()) return;
        command = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
      }
      if (std::uniform_int_distribution<int>(0, 15)(random_) == 0)
        std::this_thread::sleep_for(
            std::chrono::microseconds(std::uniform_int_distribution<int>(0, 100)(random_)));
      try {
        if (voxswap::emulation::broken == cudaSuccess) command();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "emulated GPU: %s\n", error.what());
        voxswap::emulation::broken = cudaErrorLaunchFailure;
      }
    }
  }

  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;  // last: uses the members above
};

// Records are numbered; a wait is for the last record enqueued before it.
struct CUevent_st {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0, happened = 0;
    voxswap::emulation::Clock::time_point time;

    void happen(std::uint64_t record) {
      {
        const std::lock_guard lock(mutex);
        happened = record;
        time = voxswap::emulation::Clock::now();
      }
      changed.notify_all();
    }
    void wait(std::uint64_t record) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return happened >= record || voxswap::emulation::broken != cudaSuccess; });
    }
  };
  std::shared_ptr<State> state = std::make_shared<State>();  // queues may outlive the event
  bool timed = true;
};
