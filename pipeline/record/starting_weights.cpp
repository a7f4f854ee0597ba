#include "pipeline/record/starting_weights.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "pipeline/record/generations.h"

namespace voxswap::pipeline {

namespace {

using Fate = StartingWeights::Fate;

// The tensors of a file by name; records which were used.
class Source {
 public:
  explicit Source(const Checkpoint& checkpoint) {
    for (const Tensor& tensor : checkpoint.tensors) by_name_[tensor.name] = &tensor;
  }

  // Also finds backbone weights in the file of a whole classifier.
  const Tensor* take(const std::string& name) {
    constexpr std::string_view prefix = "backbone.";
    if (const Tensor* const tensor = find(name)) return tensor;
    return name.starts_with(prefix) ? find(name.substr(prefix.size())) : nullptr;
  }

  std::vector<const Tensor*> left() const {
    std::vector<const Tensor*> tensors;
    for (const auto& [name, tensor] : by_name_)
      if (!used_.contains(name) && !is_kept_by_optimizer(name)) tensors.push_back(tensor);
    return tensors;
  }

 private:
  const Tensor* find(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    used_.insert(name);
    return found->second;
  }

  // True for optimiser state and weight averages.
  bool is_kept_by_optimizer(const std::string& name) const {
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) return false;
    const std::string last = name.substr(dot);
    if (name == "loss.scale") return true;
    return (last == ".m" || last == ".v" || last == ".momentum" || last == ".average") &&
           by_name_.contains(name.substr(0, dot));
  }

  std::map<std::string, const Tensor*> by_name_;
  std::set<std::string> used_;
};

// For each of our channels, the index of the file's channel with the same name, or -1. Empty if names do not
// help: the file has none, shares none, or has the same order.
std::vector<std::int64_t> channels_by_name(const Checkpoint& checkpoint, std::int64_t count,
                                           const std::vector<std::string>& ours) {
  const std::vector<std::string> theirs = split(checkpoint.entry("modalities"), ' ');
  if (theirs == ours || std::ssize(theirs) != count) return {};
  std::vector<std::int64_t> places;
  for (const std::string& name : ours) {
    const auto at = std::ranges::find(theirs, name);
    places.push_back(at == theirs.end() ? -1 : at - theirs.begin());
  }
  if (std::ranges::max(places) < 0) return {};
  return places;
}

// Shapes O,I,D,H,W that differ only in I.
bool differ_in_channels_alone(const Shape& theirs, const Shape& ours) {
  if (theirs.rank() != 5 || ours.rank() != 5) return false;
  for (const int axis : {0, 2, 3, 4})
    if (theirs[axis] != ours[axis]) return false;
  return true;
}

void copy_channels(const Tensor& from, const Shape& shape, const std::vector<std::int64_t>& places,
                   Tensor& to) {
  const std::int64_t kernel = shape[2] * shape[3] * shape[4];
  for (std::int64_t o = 0; o < shape[0]; ++o)
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      const auto begin = from.values.begin() + (o * shape[1] + places[i]) * kernel;
      std::copy(begin, begin + kernel,
                to.values.begin() + (o * to.shape[1] + static_cast<std::int64_t>(i)) * kernel);
    }
}

std::string channels_text(const std::vector<std::string>& modalities,
                          const std::vector<std::int64_t>& places) {
  std::vector<std::string> taken, fresh;
  for (std::size_t i = 0; i < places.size(); ++i) (places[i] < 0 ? fresh : taken).push_back(modalities[i]);
  return "channels " + join(taken, ", ") + " taken" + (fresh.empty() ? "" : "; random: " + join(fresh, ", "));
}

constexpr std::array<std::string_view, 5> fates = {"taken", "by channel", "other shape", "missing", "unused"};

// Maximum number of lines per kind of mismatch in the table.
constexpr std::size_t most_mismatches = 12;

}  // namespace

fs::path weights_file(const fs::path& run_or_file) {
  error_code ignored;
  if (!fs::exists(run_or_file, ignored))
    fail(Exit::bad_data, "{}: {}: no such run or file", key::network_init, run_or_file.string());
  if (!fs::is_directory(run_or_file, ignored)) return run_or_file;
  for (const char* folder : {"checkpoints", "checkpoints/repeat_1"})
    for (const char* name : {averaged_weights_name, best_weights_name}) {
      const fs::path file = run_or_file / folder / (std::string(name) + ".safetensors");
      if (fs::exists(file, ignored)) return file;
    }
  fail(Exit::bad_data,
       "{}: {}: contains no checkpoints/best.safetensors. Expected a run with a finished epoch, or a "
       ".safetensors file",
       key::network_init, run_or_file.string());
}

StartingWeights starting_weights(const fs::path& file, std::vector<Tensor> random,
                                 const std::vector<std::string>& modalities) {
  const Checkpoint checkpoint = read_checkpoint(file);
  Source source(checkpoint);
  // The first 5-D weight belongs to the convolution that reads the images.
  const auto first =
      std::ranges::find_if(random, [](const Tensor& tensor) { return tensor.shape.rank() == 5; });
  StartingWeights weights{file, {}, {}};
  for (auto tensor = random.begin(); tensor != random.end(); ++tensor) {
    const Tensor* const found = source.take(tensor->name);
    const Shape shape = found != nullptr ? as_volume(found->shape, tensor->shape) : Shape{};
    std::vector<std::int64_t> places;
    if (tensor == first && differ_in_channels_alone(shape, tensor->shape))
      places = channels_by_name(checkpoint, shape[1], modalities);
    if (found == nullptr) {
      weights.rows.push_back({Fate::missing, tensor->name, tensor->shape.text()});
    } else if (!places.empty()) {
      copy_channels(*found, shape, places, *tensor);
      weights.rows.push_back({Fate::by_channel, tensor->name, channels_text(modalities, places)});
    } else if (shape != tensor->shape) {
      weights.rows.push_back(
          {Fate::other_shape, tensor->name, format("{} there, {} here", shape.text(), tensor->shape.text())});
    } else {
      tensor->values = found->values;
      weights.rows.push_back({Fate::taken, tensor->name, shape.text()});
    }
  }
  for (const Tensor* tensor : source.left())
    weights.rows.push_back({Fate::unused, tensor->name, tensor->shape.text()});
  if (weights.count(Fate::taken) + weights.count(Fate::by_channel) == 0)
    fail(Exit::bad_data,
         "{}: {}: no tensor matches any of the network's {} in name and shape. The first is '{}' with shape "
         "{}",
         key::network_init, file.string(), counted(random.size(), "parameter"), random.front().name,
         random.front().shape.text());
  weights.tensors = std::move(random);
  return weights;
}

std::size_t StartingWeights::count(Fate fate) const {
  return static_cast<std::size_t>(std::ranges::count(rows, fate, &Row::fate));
}

std::string StartingWeights::table() const {
  std::string text = format("{}: {} of {} are initialised from {}", key::network_init, count(Fate::taken),
                            counted(tensors.size(), "parameter"), file.string());
  for (const Fate fate : {Fate::by_channel, Fate::other_shape, Fate::missing, Fate::unused}) {
    std::size_t listed = 0;
    for (const Row& row : rows)
      if (row.fate == fate && listed++ < most_mismatches)
        text += format("\n  {:<12} {}  {}", fates[static_cast<std::size_t>(fate)], row.name, row.remark);
    if (listed > most_mismatches)
      text += format("\n  {:<12} {} more", fates[static_cast<std::size_t>(fate)], listed - most_mismatches);
  }
  return text;
}

Shape as_volume(const Shape& shape, const Shape& wanted) {
  if (shape.rank() == 4 && wanted.rank() == 5 && wanted[2] == 1)
    return {shape[0], shape[1], 1, shape[2], shape[3]};  // the network's images are planes of a volume
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], 1, shape[3]};
  if (shape.rank() == 2) return {shape[0], shape[1], 1, 1, 1};
  return shape;
}

}  // namespace voxswap::pipeline
