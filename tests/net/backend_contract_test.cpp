// Requirements on memory, streams and events of every backend with a device here: order within a stream,
// order between device and host streams in both directions, failures, times.
//
// Kernels of a device's stream are specific to the device, so these tests order copies; kernels of host
// streams are host code.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "tests/expect.h"
#include "tests/limit.h"
#include "tests/net/function_kernel.h"

namespace voxswap::net {
namespace {

using std::chrono::milliseconds;

class BackendContract : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Backend> backend = make_backend(GetParam());
};

std::vector<int> counting(std::size_t count, int first) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::int64_t bytes_of(const std::vector<int>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(int));
}

TEST_P(BackendContract, CopiesGoToTheDeviceWithinItAndBack) {
  const std::vector<int> values = counting(1 << 20, 3);
  const auto first = backend->allocate(bytes_of(values)), second = backend->allocate(bytes_of(values));
  const auto host = backend->allocate_host(bytes_of(values));
  const auto stream = backend->make_stream();
  std::vector<int> back(values.size());
  stream->copy(first->data(), values.data(), bytes_of(values));
  stream->copy(second->data(), first->data(), bytes_of(values));
  stream->copy(host->data(), second->data(), bytes_of(values));
  stream->copy(back.data(), second->data(), bytes_of(values));
  stream->synchronize();
  EXPECT_EQ(back, values);
  EXPECT_EQ(std::memcmp(host->data(), values.data(), static_cast<std::size_t>(bytes_of(values))), 0);
}

TEST_P(BackendContract, MemoryIsAlignedAndHostMemoryLiesAtAPage) {
  for (const std::int64_t bytes : {0LL, 1LL, 4097LL, (5LL << 20) + 1}) {
    const auto device = backend->allocate(bytes), host = backend->allocate_host(bytes);
    EXPECT_EQ(device->bytes(), bytes);
    EXPECT_EQ(host->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device->data()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host->data()) % 4096, 0u);
    for (std::int64_t i = 0; i < bytes; i += 512) host->data()[i] = std::byte{1};
  }
}

TEST_P(BackendContract, MoreThanThereIsDoesNotFit) {
  for (const bool on_host : {false, true}) {
    SCOPED_TRACE(on_host ? "on the host" : "on the device");
    test::expect_failure(
        [&] {
          const std::int64_t bytes = std::int64_t{1} << 50;
          const auto memory = on_host ? backend->allocate_host(bytes) : backend->allocate(bytes);
        },
        Exit::does_not_fit);
  }
  EXPECT_NO_THROW(backend->allocate(64));  // the failed request reserved nothing
}

TEST_P(BackendContract, UnifiedMemoryIsReachedFromBothSidesOrRefused) {
  if (backend->computes_on_host()) {
    EXPECT_THROW(backend->allocate_unified(64, 64), Error);
    return;
  }
  const std::vector<int> values = counting(1 << 18, 1);
  const auto memory = backend->allocate_unified(bytes_of(values), bytes_of(values));
  const auto stream = backend->make_stream();
  stream->copy(memory->data(), values.data(), bytes_of(values));
  stream->synchronize();
  EXPECT_EQ(std::memcmp(memory->data(), values.data(), static_cast<std::size_t>(bytes_of(values))), 0);
  const std::int64_t too_many = backend->free_bytes() + (std::int64_t{1} << 30);
  test::expect_failure([&] { backend->allocate_unified(too_many, too_many); }, Exit::does_not_fit);
}

TEST_P(BackendContract, FreeMemoryShrinksByWhatIsTaken) {
  const std::int64_t block = std::int64_t{256} << 20;
  if (backend->computes_on_host()) GTEST_SKIP() << "other programs take and give the host's memory meanwhile";
  const std::int64_t before = backend->free_bytes();
  const auto memory = backend->allocate(block);
  EXPECT_LE(backend->free_bytes(), before - block / 2);
}

// A value passes through device memory; each stream may touch it only when the previous one is done.
TEST_P(BackendContract, EventsOrderStreamsOfTheDevice) {
  const std::vector<int> values = counting(1 << 20, 0);
  const auto a = backend->allocate(bytes_of(values)), b = backend->allocate(bytes_of(values));
  const auto host = backend->allocate_host(bytes_of(values));
  const auto first = backend->make_stream(), second = backend->make_stream();
  const auto written = backend->make_event(), moved = backend->make_event();
  for (int round = 0; round < 20; ++round) {
    auto* source = reinterpret_cast<int*>(host->data());
    for (std::size_t i = 0; i < values.size(); ++i) source[i] = values[i] + round;
    first->copy(a->data(), host->data(), bytes_of(values));
    first->record(*written);
    second->wait(*written);
    second->copy(b->data(), a->data(), bytes_of(values));
    second->record(*moved);
    first->wait(*moved);
    std::vector<int> back(values.size());
    first->copy(back.data(), b->data(), bytes_of(values));
    first->synchronize();
    ASSERT_EQ(back.front(), round);
    ASSERT_EQ(back.back(), values.back() + round);
    second->synchronize();
  }
}

TEST_P(BackendContract, AWaitForAnEventThatWasNeverRecordedDoesNotWait) {
  const test::Limit limit;
  const auto event = backend->make_event();
  const auto device = backend->make_stream(), host = backend->make_host_stream();
  device->wait(*event);
  host->wait(*event);
  device->synchronize();
  host->synchronize();
}

TEST_P(BackendContract, AStreamOfTheDeviceWaitsForTheHostAndLetsOthersRun) {
  const auto memory = backend->allocate(64), other = backend->allocate(64);
  const auto waiting = backend->make_stream(), free = backend->make_stream();
  const auto host = backend->make_host_stream();
  const auto ready = backend->make_event();
  std::atomic<bool> go = false;
  int before = 1, after = 2;
  FunctionKernel sleeps([&] {
    while (!go) std::this_thread::sleep_for(milliseconds(1));
  });
  waiting->copy(memory->data(), &before, sizeof before);
  waiting->synchronize();
  host->launch(sleeps, {});
  host->record(*ready);
  const auto pinned = backend->allocate_host(64);
  std::memcpy(pinned->data(), &after, sizeof after);
  waiting->wait(*ready);
  waiting->copy(memory->data(), pinned->data(), sizeof after);
  // Another stream is not blocked, and sees the previous content.
  int seen = 0;
  free->copy(&seen, memory->data(), sizeof seen);
  free->copy(other->data(), &before, sizeof before);
  free->synchronize();
  EXPECT_EQ(seen, 1);
  go = true;
  waiting->copy(&seen, memory->data(), sizeof seen);
  waiting->synchronize();
  EXPECT_EQ(seen, 2);
  host->synchronize();
}

// As in the executor and the simulated link: one event per side is reused, and the host waits only after
// everything is enqueued.
TEST_P(BackendContract, HostAndDeviceTakeTurnsManyTimesBeforeAnybodyWaits) {
  constexpr int rounds = 300;
  const auto memory = backend->allocate(64);
  const auto pinned = backend->allocate_host(64);
  const auto device = backend->make_stream(), host = backend->make_host_stream();
  const auto copied = backend->make_event(), counted = backend->make_event();
  auto* number = reinterpret_cast<int*>(pinned->data());
  *number = 0;
  FunctionKernel counts([&] { ++*number; });
  for (int i = 0; i < rounds; ++i) {
    device->copy(memory->data(), number, sizeof *number);
    device->copy(number, memory->data(), sizeof *number);
    device->record(*copied);
    host->wait(*copied);
    host->launch(counts, {});
    host->record(*counted);
    device->wait(*counted);
  }
  device->synchronize();
  host->synchronize();
  EXPECT_EQ(*number, rounds);
}

// A host stream waits for the record that was the last one when the wait was enqueued, not for a later one.
TEST_P(BackendContract, AHostStreamWaitsForTheRecordThatWasTheLastWhenItWasEnqueued) {
  const test::Limit limit;
  const auto device = backend->make_stream(), host = backend->make_host_stream();
  const auto recorded_twice = backend->make_event(), let_go = backend->make_event();
  FunctionKernel nothing([] {});
  device->record(*recorded_twice);
  host->wait(*recorded_twice);
  host->launch(nothing, {});
  host->record(*let_go);
  device->wait(*let_go);
  device->record(*recorded_twice);  // occurs only after the host has continued
  device->synchronize();
  host->synchronize();
}

TEST_P(BackendContract, AFailureIsThrownBySynchronizeAndEventsStillHappen) {
  int ran = 0;
  FunctionKernel fails([] { fail(Exit::failed, "the kernel {}", "broke"); }), counts([&] { ++ran; });
  for (const bool on_host : {false, true}) {
    const auto stream = on_host ? backend->make_host_stream() : backend->make_stream();
    const auto other = backend->make_stream();
    const auto event = backend->make_event();
    ran = 0;
    stream->launch(counts, {});
    stream->launch(fails, {});
    stream->launch(counts, {});
    stream->record(*event);
    other->wait(*event);
    other->synchronize();
    EXPECT_THROW(stream->synchronize(), Error);
    EXPECT_EQ(ran, 1) << "what comes after the failure is skipped";
    stream->launch(counts, {});
    EXPECT_NO_THROW(stream->synchronize());
    EXPECT_EQ(ran, 2);
  }
}

TEST_P(BackendContract, EventsTellTheTimeBetweenAnyStreams) {
  const auto device = backend->make_stream(), host = backend->make_host_stream();
  const auto begin = backend->make_event(), slept = backend->make_event(), end = backend->make_event();
  FunctionKernel sleeps([] { std::this_thread::sleep_for(milliseconds(30)); });
  for (int round = 0; round < 2; ++round) {
    const auto start = std::chrono::steady_clock::now();
    device->record(*begin);
    host->wait(*begin);
    host->launch(sleeps, {});
    host->record(*slept);
    device->wait(*slept);
    device->record(*end);
    device->synchronize();
    host->synchronize();
    const double most = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    constexpr double clocks_differ_by = 1e-3;
    for (const Event* later : {slept.get(), end.get()}) {
      EXPECT_GE(backend->elapsed(*begin, *later), 0.03 - clocks_differ_by);
      EXPECT_LE(backend->elapsed(*begin, *later), most + clocks_differ_by);
    }
    EXPECT_NEAR(backend->elapsed(*begin, *slept) + backend->elapsed(*slept, *end),
                backend->elapsed(*begin, *end), 2 * clocks_differ_by);
    EXPECT_NEAR(backend->elapsed(*slept, *begin), -backend->elapsed(*begin, *slept), clocks_differ_by);
  }
}

TEST_P(BackendContract, HasThousandsOfEvents) {
  const test::Limit limit;
  const auto device = backend->make_stream(), host = backend->make_host_stream();
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < 3000; ++i) {
    events.push_back(backend->make_event());
    (i % 2 == 0 ? device : host)->record(*events.back());
    (i % 2 == 0 ? host : device)->wait(*events.back());
  }
  device->synchronize();
  host->synchronize();
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendContract, testing::ValuesIn(backend_names()),
                         [](const auto& backend) { return backend.param; });

// Shows in the list of tests why there are none for a GPU.
TEST(CudaDevice, IsHere) {
  if (device_count("cuda") == 0) GTEST_SKIP() << why_no_device("cuda");
  EXPECT_EQ(make_backend("cuda")->name(), "cuda");
}

TEST(CudaDevice, ThatIsNotThereIsRefusedWithItsReason) {
  const std::string why = device_count("cuda") == 0 ? why_no_device("cuda") : "GPU 1000";
  test::expect_failure([&] { make_backend("cuda", {.device = 1000}); }, Exit::does_not_fit, {why});
}

}  // namespace
}  // namespace voxswap::net
