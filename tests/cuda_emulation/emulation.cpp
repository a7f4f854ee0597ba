#include "tests/cuda_emulation/emulation.h"

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

namespace voxswap::emulation {

namespace {

std::atomic<Order> chosen_order = Order::forward;
thread_local std::function<bool(const Extent&, const Extent&)> blocks_that_run;

constexpr std::size_t stack_bytes = 256 * 1024;

// Uses the compiler's own jumps: those of the C library also look for cleanup handlers, which takes longer
// than the threads of a small kernel.
using Jump = void* [5];
[[noreturn, gnu::noinline]] void jump(Jump& to) {
  __builtin_longjmp(to, 1);
}

class RunningBlock;

// A stack on which threads of a block run one after the other until one of them waits; the stack then belongs
// to that thread. It is entered once by setcontext (a system call); later switches are jumps.
struct Fibre {
  // Offsets differ because stacks at the same offset in a page would share few cache lines.
  explicit Fibre(std::size_t index) : stack_used(stack_bytes - index % 64 * 320) {}

  const std::size_t stack_used;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  Jump where{};  // where it continues
  bool entered = false;
  RunningBlock* block = nullptr;  // that it works for
};

// Fibres at rest. Host threads come and go with the streams of each test; their fibres go to others.
class Fibres {
 public:
  static Fibres& of_all_threads() {
    static Fibres fibres;
    return fibres;
  }
  std::unique_ptr<Fibre> take() {
    const std::lock_guard lock(mutex_);
    if (resting_.empty()) return std::make_unique<Fibre>(made_++);
    std::unique_ptr<Fibre> fibre = std::move(resting_.back());
    resting_.pop_back();
    return fibre;
  }
  void give(std::vector<std::unique_ptr<Fibre>>& fibres) {
    const std::lock_guard lock(mutex_);
    std::move(fibres.begin(), fibres.end(), std::back_inserter(resting_));
  }

 private:
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<Fibre>> resting_;
};

// The block that runs on this host thread.
class RunningBlock {
 public:
  static RunningBlock& of_this_thread() {
    static thread_local RunningBlock block;
    return block;
  }
  ~RunningBlock() { all_.give(fibres_); }

  // Sets `at` to a thread's position before each of its turns.
  void run(std::span<const Extent> places, Order order, Extent& at, const std::function<void()>& thread) {
    places_ = places;
    at_ = &at;
    thread_ = &thread;
    failure_ = nullptr;
    if (turns_.size() != places.size() || order_ != order || order == Order::shuffled) {
      turns_.resize(places.size());
      std::iota(turns_.begin(), turns_.end(), std::size_t{0});
      if (order == Order::backward) std::reverse(turns_.begin(), turns_.end());
      waiting_.resize(places.size());
      order_ = order;
    }
    std::optional<std::mt19937> random;
    if (order == Order::shuffled) random.emplace(static_cast<unsigned>(places.size()));
    try {
      for (first_turns_ = true; first_turns_ || ended_ == 0; first_turns_ = false) {
        if (random) std::shuffle(turns_.begin(), turns_.end(), *random);
        give_turns();
      }
    } catch (...) {
      fibres_.clear();  // some hold a thread that will not continue
      throw;
    }
  }

  void wait() {
    Fibre& fibre = *current_;
    waiting_[turns_[turn_++]] = &fibre;
    if (__builtin_setjmp(fibre.where) == 0) go_on();
  }

 private:
  // Every thread runs until it ends or waits for the others.
  void give_turns() {
    ended_ = turn_ = used_ = 0;
    if (__builtin_setjmp(host_) == 0) go_on();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    if (ended_ != 0 && ended_ != turns_.size())
      throw std::logic_error(
          "threads of a block wait for others that have ended: __syncthreads() is not called by all");
  }

  // Continues with the thread whose turn it is, or with the host after the last one. In the first turns, a
  // fibre that is free starts threads until one of them waits.
  [[noreturn]] void go_on() {
    if (turn_ == turns_.size()) jump(host_);
    if (first_turns_) {
      if (used_ == fibres_.size()) fibres_.push_back(all_.take());
      current_ = fibres_[used_++].get();
    } else {
      *at_ = places_[turns_[turn_]];
      current_ = waiting_[turns_[turn_]];
    }
    current_->block = this;
    if (current_->entered) jump(current_->where);
    enter(*current_);
  }

  [[noreturn]] static void enter(Fibre& fibre) {
    fibre.entered = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibre.stack.get();
    context.uc_stack.ss_size = fibre.stack_used;
    context.uc_link = nullptr;
    makecontext(&context, run_threads, 0);
    setcontext(&context);
    std::abort();
  }
  static void run_threads() {
    Fibre& fibre = *of_this_thread().current_;
    for (;;) {
      RunningBlock& block = *fibre.block;  // another one after each rest
      while (block.turn_ < block.turns_.size()) {
        *block.at_ = block.places_[block.turns_[block.turn_]];
        try {
          (*block.thread_)();
        } catch (...) {
          block.failure_ = std::current_exception();
        }
        if (block.failure_ != nullptr) jump(block.host_);
        ++block.ended_;
        ++block.turn_;
        if (!block.first_turns_) break;  // the next thread waits on its own fibre
      }
      if (__builtin_setjmp(fibre.where) == 0) block.go_on();
    }
  }

  Fibres& all_ = Fibres::of_all_threads();  // begins before and ends after this
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::span<const Extent> places_;  // of the threads
  Extent* at_ = nullptr;
  const std::function<void()>* thread_ = nullptr;
  std::vector<std::size_t> turns_;  // threads in the order of their turns
  std::size_t turn_ = 0;            // the current one
  std::size_t ended_ = 0;           // threads that ended in this round
  std::size_t used_ = 0;            // fibres that have run in the first turns
  Order order_ = Order::forward;    // of `turns_`
  bool first_turns_ = true;
  std::vector<Fibre*> waiting_;  // the fibre of each waiting thread
  Fibre* current_ = nullptr;
  Jump host_{};
  std::exception_ptr failure_;
};

Extent place_in(std::uint64_t index, const Extent& extent) {
  return Extent(static_cast<unsigned>(index % extent.x), static_cast<unsigned>(index / extent.x % extent.y),
                static_cast<unsigned>(index / extent.x / extent.y));
}

}  // namespace

// The limits of all devices, from the CUDA programming guide, "Compute Capabilities".
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

void launch(const Extent& grid, const Extent& block, Extent& at_block, Extent& at_thread,
            const std::function<void()>& thread) {
  const Order order = chosen_order;
  std::vector<Extent> places(std::size_t{block.x} * block.y * block.z);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = place_in(i, block);
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    at_block = place_in(order == Order::forward ? i : blocks - 1 - i, grid);
    if (blocks_that_run && !blocks_that_run(at_block, grid)) continue;
    RunningBlock::of_this_thread().run(places, order, at_thread, thread);
  }
}

void wait_for_block() {
  RunningBlock::of_this_thread().wait();
}

}  // namespace voxswap::emulation
