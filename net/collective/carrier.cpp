#include "net/collective/carrier.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "base/log.h"
#include "net/backends/device_features.h"

namespace voxswap::net {

namespace {

class HostCarrier : public Carrier {
 public:
  explicit HostCarrier(Ranks& ranks) : ranks_(ranks) {}
  bool on_host() const final { return true; }

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) rows_.resize(static_cast<std::size_t>(bytes));
  }
  std::byte* rows() override { return rows_.data(); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(rows_.size()); }

  void take(void* row, const void* value, std::int64_t bytes) override { copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copy(value, row, bytes); }
  void settle() override {}

  void copy(void* to, const void* from, std::int64_t bytes) final {
    std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
  }
  void add(float* to, const float* from, std::int64_t count) final { add_up(to, from, count); }
  void add(double* to, const double* from, std::int64_t count) final { add_up(to, from, count); }
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) final {
    ranks_.swap(other, sent, sent_count, received, received_count);
  }

 private:
  template <class T>
  static void add_up(T* to, const T* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
  }

  Ranks& ranks_;
  std::vector<std::byte> rows_;
};

// Rows are in pinned host memory. Copies use a stream of their own, so nothing else waits for them.
class StagingCarrier final : public HostCarrier {
 public:
  StagingCarrier(Ranks& ranks, Backend& backend)
      : HostCarrier(ranks), backend_(backend), copies_(backend.make_stream()) {}

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) memory_ = backend_.allocate_host(bytes);
  }
  std::byte* rows() override { return memory_->data(); }
  std::int64_t bytes() const override { return memory_ ? memory_->bytes() : 0; }

  void take(void* row, const void* value, std::int64_t bytes) override { copies_->copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copies_->copy(value, row, bytes); }
  void settle() override { copies_->synchronize(); }

 private:
  Backend& backend_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Stream> copies_;
};

class DeviceCarrier final : public Carrier {
 public:
  DeviceCarrier(Backend& backend, std::unique_ptr<Peers> peers)
      : backend_(backend), peers_(std::move(peers)) {}
  bool on_host() const override { return false; }

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) memory_ = backend_.allocate(bytes);
  }
  std::byte* rows() override { return memory_->data(); }
  std::int64_t bytes() const override { return memory_ ? memory_->bytes() : 0; }

  void take(void* row, const void* value, std::int64_t bytes) override { copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copy(value, row, bytes); }
  void settle() override {}  // the stream keeps the order

  void copy(void* to, const void* from, std::int64_t bytes) override { peers_->copy(to, from, bytes); }
  void add(float* to, const float* from, std::int64_t count) override { peers_->add(to, from, count); }
  void add(double*, const double*, std::int64_t) override { assert(false && "a GPU's sums are f32"); }
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) override {
    peers_->swap(other, sent, sent_count, received, received_count);
  }

 private:
  Backend& backend_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace

std::unique_ptr<Carrier> carry_through_host(Ranks& ranks, Backend* backend) {
  if (backend == nullptr || backend->computes_on_host()) return std::make_unique<HostCarrier>(ranks);
  return std::make_unique<StagingCarrier>(ranks, *backend);
}

std::unique_ptr<Carrier> carry_between_devices(Ranks& ranks, Backend& backend) {
  const std::string computes_on_host = "-";
  auto* const device = dynamic_cast<PeerBackend*>(&backend);
  const std::vector<std::string> all =
      gather(ranks, device == nullptr ? computes_on_host : device->why_no_peers());
  if (std::find(all.begin(), all.end(), computes_on_host) != all.end()) return nullptr;
  for (const std::string& why : all)
    if (!why.empty()) {
      log::info("gradients are exchanged through host memory, not directly between GPUs: {}", why);
      return nullptr;
    }
  const std::string meeting = broadcast(ranks, ranks.is_first() ? device->new_meeting() : "");
  return std::make_unique<DeviceCarrier>(backend, device->meet(meeting, ranks.rank(), ranks.count()));
}

}  // namespace voxswap::net
