// Streams and events of the CPU as a device. A stream is a worker thread with a ring buffer of commands:
// enqueuing allocates nothing and blocks while the ring is full. After an error the stream skips its commands
// until synchronize() throws the error, but still signals events, so that nobody waits forever.
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::net {

namespace {

struct Command {
  enum class Kind { launch, copy, record, wait } kind = Kind::launch;
  Kernel* kernel = nullptr;
  KernelArguments arguments;
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t bytes = 0;
  HostEvent* event = nullptr;
  std::uint64_t generation = 0;
};

class HostStream : public Stream {
 public:
  HostStream() : worker_([this] { work(); }) {}
  ~HostStream() override {  // drains: commands that were enqueued are done first
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    filled_.notify_all();
    worker_.join();
  }
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void launch(Kernel& kernel, const KernelArguments& arguments) override {
    Command command;
    command.kind = Command::Kind::launch;
    command.kernel = &kernel;
    command.arguments = arguments;
    enqueue(command);
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    Command command;
    command.kind = Command::Kind::copy;
    command.to = to;
    command.from = from;
    command.bytes = bytes;
    enqueue(command);
  }
  void record(Event& event) override { enqueue_event(Command::Kind::record, event); }
  void wait(Event& event) override { enqueue_event(Command::Kind::wait, event); }

  void synchronize() override {
    std::exception_ptr failure;
    {
      std::unique_lock lock(mutex_);
      const std::uint64_t target = enqueued_;
      emptied_.wait(lock, [&] { return done_ >= target; });
      std::swap(failure, failure_);
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  static constexpr std::uint64_t capacity = 1024;

  void enqueue_event(Command::Kind kind, Event& event) {
    Command command;
    command.kind = kind;
    command.event = static_cast<HostEvent*>(&event);
    command.generation =
        kind == Command::Kind::record ? command.event->record_enqueued() : command.event->wait_enqueued();
    enqueue(command);
  }

  void enqueue(const Command& command) {
    {
      std::unique_lock lock(mutex_);
      emptied_.wait(lock, [&] { return enqueued_ - done_ < capacity; });
      ring_[enqueued_ % capacity] = command;
      ++enqueued_;
    }
    filled_.notify_one();
  }

  void work() {
    for (;;) {
      Command command;
      bool failed = false;
      {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [&] { return ending_ || done_ < enqueued_; });
        if (done_ == enqueued_) return;
        command = ring_[done_ % capacity];
        failed = failure_ != nullptr;
      }
      std::exception_ptr failure;
      try {
        execute(command, failed);
      } catch (...) {
        failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        if (failure && !failure_) failure_ = failure;
        ++done_;
      }
      emptied_.notify_all();
    }
  }

  static void execute(const Command& command, bool failed) {
    switch (command.kind) {
      case Command::Kind::launch:
        if (!failed) command.kernel->run(command.arguments);
        break;
      case Command::Kind::copy:
        if (!failed && command.bytes > 0)
          std::memcpy(command.to, command.from, static_cast<std::size_t>(command.bytes));
        break;
      case Command::Kind::record:
        command.event->happen(command.generation);
        break;
      case Command::Kind::wait:
        command.event->wait(command.generation);
        break;
    }
  }

  std::mutex mutex_;
  std::condition_variable filled_, emptied_;
  std::array<Command, capacity> ring_;
  std::uint64_t enqueued_ = 0, done_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::thread worker_;  // last: starts when the other members are ready
};

}  // namespace

std::unique_ptr<Stream> make_host_stream() {
  try {
    return std::make_unique<HostStream>();
  } catch (const std::system_error& error) {
    fail(Exit::failed,
         "no thread can be started for a stream of the CPU: {}. End other programs or raise ulimit -u",
         error.what());
  }
}

std::uint64_t HostEvent::record_enqueued() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}
std::uint64_t HostEvent::wait_enqueued() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void HostEvent::happen(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (generation > happened_) {
    happened_ = generation;
    time_ = Clock::now();
  }
  changed_.notify_all();  // under the lock: a waiter may destroy the event as soon as it is released
}

void HostEvent::wait(std::uint64_t generation) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return happened_ >= generation; });
}

HostEvent::Clock::time_point HostEvent::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

std::unique_ptr<Event> make_host_event() {
  return std::make_unique<HostEvent>();
}
double host_elapsed(const Event& from, const Event& to) {
  return std::chrono::duration<double>(static_cast<const HostEvent&>(to).time() -
                                       static_cast<const HostEvent&>(from).time())
      .count();
}

}  // namespace voxswap::net
