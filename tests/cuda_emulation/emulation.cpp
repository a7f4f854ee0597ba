#include "tests/cuda_emulation/emulation.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace voxswap::emulation {

namespace {

std::atomic<Order> chosen_order = Order::forward;
thread_local std::function<bool(const Extent&, const Extent&)> blocks_that_run;

constexpr std::size_t stack_bytes = 256 * 1024;

// A stack on which threads of a block run, one after the other. It is entered once by setcontext, which takes
// a system call; every change of stacks after that is a jump.
struct Fibre {
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  jmp_buf where;  // it went on from
  bool entered = false, ended = false;
};

// The block that runs on this thread of the host.
class RunningBlock {
 public:
  static RunningBlock& of_this_thread() {
    static thread_local RunningBlock block;
    return block;
  }

  void run(std::size_t threads, Order order, const std::function<void(std::size_t)>& turn_of,
           const std::function<void()>& thread) {
    while (fibres_.size() < threads) fibres_.push_back(std::make_unique<Fibre>());
    thread_ = &thread;
    failure_ = nullptr;
    for (std::size_t i = 0; i < threads; ++i) fibres_[i]->ended = false;
    std::vector<std::size_t> turns(threads);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    if (order == Order::backward) std::reverse(turns.begin(), turns.end());
    std::mt19937 random(static_cast<unsigned>(threads));
    try {
      for (std::size_t ended = 0; ended < threads; give_turns(turns, turn_of, ended)) {
        if (order == Order::shuffled) std::shuffle(turns.begin(), turns.end(), random);
      }
    } catch (...) {
      fibres_.clear();  // some are in the middle of a thread that will not go on
      throw;
    }
  }

  void wait() { to_host(*current_); }

 private:
  // Every thread runs until it ends or waits for the others.
  void give_turns(const std::vector<std::size_t>& turns, const std::function<void(std::size_t)>& turn_of,
                  std::size_t& ended) {
    for (std::size_t i : turns) {
      if (fibres_[i]->ended) continue;
      turn_of(i);
      resume(*fibres_[i]);
      if (failure_ != nullptr) std::rethrow_exception(failure_);
      if (fibres_[i]->ended) ++ended;
    }
    if (ended != 0 && ended != turns.size())
      throw std::logic_error(
          "threads of a block wait for others that have ended: __syncthreads() is not called by all");
  }

  void resume(Fibre& fibre) {
    current_ = &fibre;
    if (_setjmp(host_) == 0) {
      if (fibre.entered) _longjmp(fibre.where, 1);
      enter(fibre);
    }
  }
  void to_host(Fibre& fibre) {
    if (_setjmp(fibre.where) == 0) _longjmp(host_, 1);
  }

  static void enter(Fibre& fibre) {
    fibre.entered = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibre.stack.get();
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_threads, 0);
    setcontext(&context);
  }
  static void run_threads() {
    RunningBlock& block = of_this_thread();
    for (;;) {
      Fibre& fibre = *block.current_;
      try {
        (*block.thread_)();
      } catch (...) {
        block.failure_ = std::current_exception();
      }
      fibre.ended = true;
      block.to_host(fibre);
    }
  }

  std::vector<std::unique_ptr<Fibre>> fibres_;
  const std::function<void()>* thread_ = nullptr;
  Fibre* current_ = nullptr;
  jmp_buf host_;
  std::exception_ptr failure_;
};

Extent place_in(std::uint64_t index, const Extent& extent) {
  return Extent(static_cast<unsigned>(index % extent.x), static_cast<unsigned>(index / extent.x % extent.y),
                static_cast<unsigned>(index / extent.x / extent.y));
}

}  // namespace

// CUDA programming guide, "Compute Capabilities": the limits that all devices share.
bool a_device_could(const Extent& grid, const Extent& block) {
  const auto inside = [](const Extent& e, unsigned x, unsigned y, unsigned z) {
    return e.x >= 1 && e.y >= 1 && e.z >= 1 && e.x <= x && e.y <= y && e.z <= z;
  };
  return inside(grid, 0x7fffffff, 65535, 65535) && inside(block, 1024, 1024, 64) &&
         std::uint64_t{block.x} * block.y * block.z <= 1024;
}

void set_order(Order order) {
  chosen_order = order;
}

void set_blocks_that_run(std::function<bool(const Extent&, const Extent&)> chosen) {
  blocks_that_run = std::move(chosen);
}

void launch(const Extent& grid, const Extent& block,
            const std::function<void(const Extent&, const Extent&)>& place,
            const std::function<void()>& thread) {
  const Order order = chosen_order;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const Extent at = place_in(order == Order::forward ? i : blocks - 1 - i, grid);
    if (blocks_that_run && !blocks_that_run(at, grid)) continue;
    RunningBlock::of_this_thread().run(
        std::size_t{block.x} * block.y * block.z, order,
        [&](std::size_t index) { place(place_in(index, block), at); }, thread);
  }
}

void wait_for_block() {
  RunningBlock::of_this_thread().wait();
}

}  // namespace voxswap::emulation
