#include "pipeline/device/inference_run.h"

#include "base/shape.h"

namespace voxswap::pipeline {

InferenceRun::InferenceRun(const net::InferenceStep& step, const net::StepOptions& options,
                           swap::Executor& executor, net::Backend& backend, const RankGroups& ranks,
                           net::Exchange* exchange)
    : step_(step),
      options_(options),
      executor_(executor),
      ranks_(ranks),
      backend_(backend),
      exchange_(exchange),
      inputs_(backend),
      truth_(backend) {}

// Writes this rank's part.
template <class T>
void InferenceRun::write(InputWriter& writer, const std::vector<net::ValueId>& slabs,
                         std::span<const T> volume) {
  const net::Planes own = step_.planes[index(ranks_.slab_ranks().rank)];
  if (!volume.empty())
    return writer.write(
        executor_, input_slabs(step_.graph, executor_.plan(), slabs, 1, own.from, step_.planes.back().to),
        volume);
  for (const net::ValueId slab : slabs) {
    const std::vector<std::uint8_t> zeros(index(step_.graph.value(slab).bytes()));
    executor_.write(slab, zeros.data(), std::ssize(zeros));
  }
}

double InferenceRun::run(std::span<const float> image, std::span<const std::uint8_t> target,
                         std::span<const std::int16_t> truth) {
  const net::LabelOptions& labels = options_.labels;
  write(inputs_, step_.input, image);
  write(inputs_, step_.target, target);
  write(truth_, step_.truth,
        std::span(reinterpret_cast<const std::uint8_t*>(truth.data()), truth.size_bytes()));
  for (const auto& [id, table] :
       {std::pair{step_.label_channels, &labels.channels}, {step_.label_values, &labels.values}})
    if (id != net::none) executor_.lend(id, table->data(), step_.graph.value(id).bytes());
  if (exchange_ != nullptr) exchange_->begin();
  return executor_.run({}, swap::Detail::lanes).compute_seconds;
}

float InferenceRun::loss() const {
  float loss = 0;
  executor_.read(step_.loss, &loss, sizeof loss);
  return loss;
}

std::vector<double> InferenceRun::confusion() const {
  const net::Value& value = step_.graph.value(step_.confusion);
  std::vector<double> counts(index(value.shape.count()));
  executor_.read(step_.confusion, counts.data(), value.bytes());
  return counts;
}

template <class T>
void InferenceRun::take_own(const std::vector<net::ValueId>& slabs, const SharedPlanes::Take<T>& take) const {
  std::vector<T> planes;
  for (const net::ValueId slab : slabs) {
    const std::int64_t bytes = step_.graph.value(slab).bytes();
    if (backend_.computes_on_host()) {
      take({reinterpret_cast<const T*>(executor_.view(slab)), index(bytes) / sizeof(T)});
      continue;
    }
    planes.resize(index(bytes) / sizeof(T));
    executor_.read(slab, planes.data(), bytes);
    take(planes);
  }
}

// Volumes with `channels` numbers per voxel. An image has one plane; its ranks share rows.
SharedPlanes InferenceRun::shared_planes(std::int64_t channels) const {
  const Shape& input = options_.input;
  return {ranks_.all(), ranks_.slab_ranks(), ranks_.replica() * ranks_.slab_ranks().count, step_.planes,
          input[1] * input[2] * input[3] * channels / step_.planes.back().to};
}

template <class T>
void InferenceRun::hand_on(const std::vector<net::ValueId>& slabs, std::int64_t channels,
                           const SharedPlanes::Take<T>& take) const {
  if (ranks_.slab_ranks().count == 1) return take_own<T>(slabs, take);
  shared_planes(channels).to_first<T>([&](const auto& next) { take_own<T>(slabs, next); }, take);
}

std::vector<float> InferenceRun::probabilities() const {
  std::vector<float> own;
  take_own<float>(step_.probabilities,
                  [&](auto planes) { own.insert(own.end(), planes.begin(), planes.end()); });
  return ranks_.slab_ranks().count == 1 ? own : shared_planes(options_.outputs).on_all(std::move(own));
}

void InferenceRun::hand_on_probabilities(const TakePlanes& take) const {
  if (ranks_.slab_ranks().count == 1 || options_.input[1] > 1)
    return hand_on<float>(step_.probabilities, options_.outputs, take);
  const std::vector<float> image = probabilities();
  if (ranks_.is_first_of_group()) take(image);
}

void InferenceRun::hand_on_labels(const TakeLabels& take) const {
  hand_on<std::int16_t>(step_.labels, 1, take);
}

}  // namespace voxswap::pipeline
