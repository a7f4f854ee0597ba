// Ranks as threads of one process: messages are stored until they are received.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "net/collective/ranks.h"

namespace voxswap::test {

class Post {
 public:
  void put(int from, int to, std::vector<char> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].push_back(std::move(bytes));
    changed_.notify_all();
  }
  std::vector<char> take(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<char>>& box = boxes_[{from, to}];
    changed_.wait(lock, [&] { return !box.empty(); });
    std::vector<char> bytes = std::move(box.front());
    box.pop_front();
    return bytes;
  }
  bool has(int from, int to) {
    const std::lock_guard lock(mutex_);
    return !boxes_[{from, to}].empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> boxes_;
};

class RankThread final : public net::Ranks {
 public:
  RankThread(Post& post, int rank, int count) : post_(post), rank_(rank), count_(count) {}
  int rank() const override { return rank_; }
  int count() const override { return count_; }
  int on_this_machine() const override { return count_; }
  int index_on_this_machine() const override { return rank_; }
  void send(int to, const void* bytes, std::int64_t count) override {
    const char* const from = static_cast<const char*>(bytes);
    post_.put(rank_, to, {from, from + count});
  }
  void receive(int from, void* bytes, std::int64_t count) override {
    const std::vector<char> found = post_.take(from, rank_);
    if (static_cast<std::int64_t>(found.size()) != count) throw std::runtime_error("another size was sent");
    std::copy(found.begin(), found.end(), static_cast<char*>(bytes));
  }
  bool has_sent(int from) override { return post_.has(from, rank_); }

 private:
  Post& post_;
  int rank_, count_;
};

// Runs `work` on `count` ranks concurrently and returns their results. Exceptions are rethrown when all are
// done.
template <class Result>
std::vector<Result> on_ranks(int count, const std::function<Result(net::Ranks&)>& work) {
  Post post;
  std::vector<Result> results(static_cast<std::size_t>(count));
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      RankThread self(post, rank, count);
      try {
        results[static_cast<std::size_t>(rank)] = work(self);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace voxswap::test
