// Ends the wait for data that never comes. A rank waits on its GPU for transfers from others; NCCL reports
// errors of the network only to those who ask, and a rank that hangs reports none.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace voxswap::net::cuda {

class TransferWatch {
 public:
  // `error`: describes the first failure so far, empty without one. `failed`: called once, by another thread,
  // after a failure, or when transfers were enqueued and none ended for the time limit.
  TransferWatch(int ordinal, std::chrono::milliseconds limit, std::function<std::string()> error,
                std::function<void(const std::string& message)> failed);
  ~TransferWatch();  // calls neither afterwards
  TransferWatch(const TransferWatch&) = delete;
  TransferWatch& operator=(const TransferWatch&) = delete;

  void enqueued(cudaStream_t stream);  // a transfer, the last command of this stream

 private:
  void watch();
  bool some_ended();

  const int ordinal_;
  const std::chrono::milliseconds limit_;
  const std::function<std::string()> error_;
  const std::function<void(const std::string& message)> failed_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ends_ = false;
  std::deque<cudaEvent_t> running_;  // one per transfer, in their order
  std::vector<cudaEvent_t> unused_;
  std::thread thread_;
};

}  // namespace voxswap::net::cuda
