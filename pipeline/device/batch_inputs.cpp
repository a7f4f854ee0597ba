#include "pipeline/device/batch_inputs.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap::pipeline {

BatchInputs::BatchInputs(net::Backend& backend, BatchSlabs slabs, std::int64_t spare_bytes)
    : backend_(&backend), slabs_(std::move(slabs)), spare_bytes_(spare_bytes), writer_(backend) {}

void BatchInputs::give(std::span<const float> images, std::span<const std::uint8_t> targets) {
  is_drawn_ = false;
  images_ = images;
  targets_ = targets;
  if (backend_->computes_on_host()) return;
  if (!upload_)
    upload_ = std::make_unique<Upload>(*backend_, slabs_.image, slabs_.target, spare_bytes_ - device_bytes());
  upload_->begin(images, targets);
}

void BatchInputs::give(const std::vector<DrawnSample>& drawn) {
  is_drawn_ = true;
  if (samples_) samples_->begin(drawn);
}

void BatchInputs::wait() {
  if (is_drawn_ && samples_) samples_->wait();
}

void BatchInputs::lend_to(swap::Executor& executor) {
  if (backend_->computes_on_host()) {
    writer_.write(executor, slabs_.image, images_);
    writer_.write(executor, slabs_.target, targets_);
    return;
  }
  if (slabs_.image.empty()) return;
  const InputPlaces places = is_drawn_ ? samples_->finish() : upload_->finish();
  const auto lend = [&](const std::vector<InputSlab>& slabs, const std::vector<const std::byte*>& from) {
    for (std::size_t i = 0; i < slabs.size(); ++i)
      executor.lend(slabs[i].id, from[i], slabs[i].value.bytes());
  };
  lend(slabs_.image, places.image);
  lend(slabs_.target, places.target);
}

void BatchInputs::hold(Cases& cases, const std::vector<std::size_t>& training, const SampleShape& shape,
                       std::int64_t most_bytes) {
  // A rank that shares volumes may read no slab of them.
  if (backend_->computes_on_host() || samples_ || slabs_.image.empty()) return;
  upload_.reset();
  std::int64_t wanted = 0;
  for (const std::size_t index : training) wanted += cases.training_bytes(index);
  samples_ =
      std::make_unique<DeviceSamples>(*backend_, shape, slabs_.image, slabs_.target, cases.target_table(),
                                      SampleMemory{spare_bytes_, std::min(wanted, most_bytes)});
  std::size_t held = 0;
  for (const std::size_t index : training) {
    if (!cases.has_all_boxes_inside(index) || !samples_->hold(index, *cases.for_training(index))) continue;
    cases.leave_to_device(index);
    ++held;
  }
  log::info("samples are made on the device, which holds {} of {} ({})", held,
            counted(std::ssize(training), "training case"), format_bytes(samples_->device_bytes()));
}

std::int64_t BatchInputs::device_bytes() const {
  return samples_ ? samples_->device_bytes() : 0;
}

void BatchInputs::drop() {
  upload_.reset();
  writer_ = InputWriter(*backend_);
}

void BatchInputs::set_slabs(BatchSlabs slabs, std::int64_t spare_bytes) {
  slabs_ = std::move(slabs);
  spare_bytes_ = spare_bytes;
  if (samples_) samples_->set_slabs(slabs_.image, slabs_.target);
}

}  // namespace voxswap::pipeline
