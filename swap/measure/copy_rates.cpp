#include "swap/measure/copy_rates.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "net/collective/exchange.h"
#include "net/graph/graph.h"
#include "swap/execute/scratch_file.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

namespace {

constexpr double window_seconds = 0.05;  // shorter ones measure the clock and the scheduler

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Caches in drives and below virtual machines hide the speed of a disk at first.
constexpr std::int64_t measured_disk = std::int64_t{1} << 30;
constexpr double disk_window_seconds = 0.5;

// Cycles through a memory chunk by chunk.
class Walk {
 public:
  Walk(net::Memory& memory, std::int64_t chunk, std::int64_t offset = 0)
      : memory_(memory), chunk_(chunk), offset_(offset) {}
  std::byte* next() {
    if (offset_ + chunk_ > memory_.bytes()) offset_ = 0;
    std::byte* result = memory_.data() + offset_;
    offset_ += chunk_;
    return result;
  }

 private:
  net::Memory& memory_;
  std::int64_t chunk_, offset_;
};

std::int64_t common_chunk(const net::Memory& device, const net::Memory& host) {
  return std::min({measured_chunk, device.bytes(), host.bytes()});
}

// Memory that was never used is slow the first time.
void touch(net::Backend& backend, net::Memory& device, net::Memory& host, std::int64_t chunk) {
  const std::unique_ptr<net::Stream> stream = backend.make_stream();
  Walk from(host, chunk);
  for (std::int64_t done = 0; done < device.bytes(); done += chunk)
    stream->copy(device.data() + done, from.next(), std::min(chunk, device.bytes() - done));
  stream->synchronize();
}

// Bytes per second: the median of three windows.
double copy_rate(net::Backend& backend, Walk to, Walk from, std::int64_t chunk) {
  const std::unique_ptr<net::Stream> stream = backend.make_stream();
  const std::unique_ptr<net::Event> begun = backend.make_event(), done = backend.make_event();
  const auto window = [&](std::int64_t copies) {
    stream->record(*begun);
    for (std::int64_t i = 0; i < copies; ++i) stream->copy(to.next(), from.next(), chunk);
    stream->record(*done);
    stream->synchronize();
    return std::max(backend.elapsed(*begun, *done), 1e-9);
  };
  std::int64_t copies = 1;
  while (window(copies) < window_seconds) copies *= 2;
  double rates[3];
  for (double& rate : rates) rate = static_cast<double>(copies * chunk) / window(copies);
  std::sort(rates, rates + 3);
  return rates[1];
}

// Seconds of a tiny copy that waits for another stream and on which another waits.
double copy_latency(net::Backend& backend, net::Memory& device, net::Memory& host) {
  const std::unique_ptr<net::Stream> compute = backend.make_stream(), copies = backend.make_stream();
  const std::unique_ptr<net::Event> ready = backend.make_event(), done = backend.make_event();
  constexpr int rounds = 100;
  const auto run = [&] {
    for (int i = 0; i < rounds; ++i) {
      compute->record(*ready);
      copies->wait(*ready);
      copies->copy(host.data(), device.data(), 1);
      copies->record(*done);
      compute->wait(*done);
    }
    compute->synchronize();
  };
  run();
  return seconds_of(run) / rounds;
}

}  // namespace

void measure_copies(net::Backend& backend, net::Memory& device, net::Memory& host, CostModel& costs) {
  const std::int64_t chunk = common_chunk(device, host);
  if (chunk == 0) return;
  touch(backend, device, host, chunk);
  const double to_device = copy_rate(backend, {device, chunk}, {host, chunk}, chunk);
  const double to_host = copy_rate(backend, {host, chunk}, {device, chunk}, chunk);
  costs.to_device = {to_device, to_device};
  costs.to_host = {to_host, to_host};
  costs.copy_seconds = copy_latency(backend, device, host);
}

void measure_disk(const fs::path& folder, std::int64_t bytes, net::Memory& host, CostModel& costs) {
  constexpr std::int64_t block = disk_block;
  const std::int64_t size = std::min(bytes, measured_disk) / block * block;
  const std::int64_t chunk = std::min({measured_chunk, size, host.bytes() / block * block});
  if (chunk == 0) return;
  ScratchFile file(folder, size);
  // The first write also allocates blocks; it determines how many bytes fit into the time.
  std::int64_t end = 0;
  double seconds = 0;
  for (Walk walk(host, chunk); end + chunk <= size && seconds < disk_window_seconds; end += chunk)
    seconds += seconds_of([&] { file.write(end, walk.next(), chunk); });
  const auto rate = [&](auto access) {
    Walk walk(host, chunk);
    const double whole = seconds_of([&] {
      for (std::int64_t offset = 0; offset < end; offset += chunk) access(offset, walk.next());
    });
    return static_cast<double>(end) / whole;
  };
  const double to_disk = rate([&](std::int64_t at, const std::byte* from) { file.write(at, from, chunk); });
  const double from_disk = rate([&](std::int64_t at, std::byte* to) { file.read(at, to, chunk); });
  costs.to_disk = {to_disk, to_disk};
  costs.from_disk = {from_disk, from_disk};
  constexpr int accesses = 16;
  costs.disk_seconds = seconds_of([&] {
                         for (int i = 0; i < accesses; ++i) file.write(i * block % size, host.data(), block);
                       }) /
                       accesses;
}

BackgroundCopies::BackgroundCopies(net::Backend& backend, net::Memory& device, net::Memory& host)
    : backend_(backend), device_(device), host_(host) {
  touch(backend, device, host, common_chunk(device, host));
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& error) {
    fail(Exit::failed,
         "no thread can be started to measure copies: {}. End other programs or raise ulimit -u",
         error.what());
  }
}

BackgroundCopies::~BackgroundCopies() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void BackgroundCopies::finish() {
  stop_ = true;
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
}

void BackgroundCopies::work() {
  try {
    const std::int64_t chunk = common_chunk(device_, host_);
    const std::unique_ptr<net::Stream> stream = backend_.make_stream();
    const std::unique_ptr<net::Event> begun = backend_.make_event(), out = backend_.make_event(),
                                      in = backend_.make_event();
    // Reading is half a memory behind writing, so that nothing is cached.
    const auto half = [&](const net::Memory& memory) { return memory.bytes() / chunk / 2 * chunk; };
    Walk from_device(device_, chunk), to_host(host_, chunk);
    Walk from_host(host_, chunk, half(host_)), to_device(device_, chunk, half(device_));
    while (!stop_) {
      stream->record(*begun);
      stream->copy(to_host.next(), from_device.next(), chunk);
      stream->record(*out);
      stream->copy(to_device.next(), from_host.next(), chunk);
      stream->record(*in);
      stream->synchronize();
      to_host_seconds_ += backend_.elapsed(*begun, *out);
      to_device_seconds_ += backend_.elapsed(*out, *in);
      bytes_ += chunk;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

namespace {

constexpr std::int64_t little = 16, much = std::int64_t{2} << 20;  // elements
constexpr int times = 4;

// The shortest of a few all-reduces of so many f32 zeros.
double seconds_of(net::Exchange& exchange, net::Backend& backend, std::int64_t elements) {
  net::Ranks& ranks = exchange.ranks();
  net::Graph graph;
  const net::ValueId part = graph.add_value("part", {elements}, net::ElementType::f32, net::Role::input);
  const net::NodeId node =
      graph.add("exchange", "sum", {part}, {{"parts", 1}, {"batch", static_cast<double>(ranks.count())}});
  const std::unique_ptr<net::Kernel> kernel = exchange.make_kernel(graph, graph.node(node));
  const std::unique_ptr<net::Memory> values = backend.allocate(graph.value(part).bytes());
  const std::unique_ptr<net::Stream> stream =
      exchange.on_host() ? backend.make_host_stream() : backend.make_stream();
  const std::vector<float> zeros(static_cast<std::size_t>(elements));
  const std::unique_ptr<net::Stream> copies = backend.make_stream();
  copies->copy(values->data(), zeros.data(), values->bytes());
  copies->synchronize();
  void* const value[] = {values->data()};
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) {
    net::wait_for_all(ranks);
    const auto begun = std::chrono::steady_clock::now();
    stream->launch(*kernel, {value, value, {}, nullptr, nullptr});
    stream->synchronize();
    shortest =
        std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  return shortest;
}

// Messages and bytes that the first rank sends in an exchange of so many bytes, by the model.
struct Traffic {
  double messages = 0, bytes = 0;
};
Traffic traffic_of(int ranks, std::int64_t bytes) {
  const double infinite = std::numeric_limits<double>::infinity();
  return {exchange_seconds(bytes, {.ranks = ranks, .local_rate = infinite, .message_seconds = 1}),
          exchange_seconds(bytes, {.ranks = ranks, .local_rate = 1})};
}

}  // namespace

Network measure_network(net::Exchange& exchange) {
  net::Ranks& ranks = exchange.ranks();
  exchange.begin();
  Network network;
  network.ranks = ranks.count();
  const std::int64_t size = sizeof(float);
  const Traffic small = traffic_of(ranks.count(), little * size),
                large = traffic_of(ranks.count(), much * size);
  network.message_seconds = seconds_of(exchange, *exchange.backend(), little) / small.messages;
  // Concurrent messages hide some of their fixed cost: attribute at least half of the time to the rate.
  const double whole = seconds_of(exchange, *exchange.backend(), much);
  const double at_rate = std::max(whole - large.messages * network.message_seconds, whole / 2);
  network.message_seconds = std::min(network.message_seconds, (whole - at_rate) / large.messages);
  network.rate = network.local_rate = large.bytes / at_rate;
  exchange.pause();
  net::broadcast(ranks, &network, sizeof network);
  log::debug("exchanges between {}: {:.2f} GB/s and {:.0f} us per message, each way",
             counted(ranks.count(), "rank"), network.rate / 1e9, 1e6 * network.message_seconds);
  return network;
}

}  // namespace voxswap::swap
