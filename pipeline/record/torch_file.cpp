#include "pipeline/record/torch_file.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/record/zip_entries.h"

namespace voxswap::pipeline {

namespace {

using Kind = PickledValue::Kind;

// The name of a storage type in safetensors files; empty for types that are no weights.
std::string_view number_type(std::string_view storage) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {{"torch DoubleStorage", "F64"},
                                                                     {"torch FloatStorage", "F32"},
                                                                     {"torch HalfStorage", "F16"},
                                                                     {"torch BFloat16Storage", "BF16"}};
  for (const auto& [name, type] : types)
    if (name == storage) return type;
  return {};
}

// Whole numbers of at least 0.
std::vector<std::int64_t> extents(const Pickle& pickle, const PickledValue& list) {
  std::vector<std::int64_t> numbers;
  for (const std::size_t item : list.items) {
    const PickledValue& number = pickle.at(item);
    if (number.kind != Kind::integer || number.integer < 0) throw std::runtime_error("its shape is damaged");
    numbers.push_back(number.integer);
  }
  return numbers;
}

// The values at all indices, the last axis fastest. `last`: index of the last value in the storage, relative
// to the first.
struct Strided {
  std::vector<std::int64_t> shape, strides;
  std::int64_t count = 1, last = 0;
};

constexpr std::int64_t most_values = std::int64_t{1} << 40;
constexpr std::size_t most_axes = 8;

Strided strided(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
  if (shape.size() != strides.size() || shape.size() > most_axes)
    throw std::runtime_error("its shape and strides contradict each other");
  Strided result{std::move(shape), std::move(strides)};
  for (std::size_t axis = 0; axis < result.shape.size(); ++axis) {
    const std::int64_t side = result.shape[axis], stride = result.strides[axis];
    if (side > most_values / std::max<std::int64_t>(result.count, 1) ||
        (side > 1 && stride > most_values / side))
      throw std::runtime_error("its shape is impossibly large");
    result.count *= side;
    if (side > 1) result.last += (side - 1) * stride;
  }
  return result;
}

std::vector<float> gathered(const std::vector<float>& storage, const Strided& how) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(how.count));
  std::vector<std::int64_t> at(how.shape.size());
  for (std::int64_t i = 0; i < how.count; ++i) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * how.strides[axis];
    values.push_back(storage[static_cast<std::size_t>(place)]);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < how.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return values;
}

}  // namespace

TorchFile::TorchFile(const fs::path& path) : path_(path), content_(read_file(path)) {
  try {
    if (!content_.starts_with("PK"))
      throw std::runtime_error(
          "it is no zip archive, as torch.save writes since PyTorch 1.6. Save it again with a newer PyTorch");
    entries_ = zip_entries(content_);
    const auto found = std::ranges::find_if(entries_, [](const auto& entry) {
      return entry.first == "data.pkl" || ends_with(entry.first, "/data.pkl");
    });
    if (found == entries_.end()) throw std::runtime_error("it has no data.pkl");
    prefix_ = found->first.substr(0, found->first.size() - std::string_view("data.pkl").size());
    const auto order = entries_.find(prefix_ + "byteorder");
    if (order != entries_.end() && order->second != "little")
      throw std::runtime_error("it was written on a big-endian machine");
    pickle_ = std::make_unique<Pickle>(found->second);
  } catch (const std::runtime_error& error) {
    fail(Exit::bad_data, "{}: is not a file of PyTorch weights: {}", path.string(), error.what());
  }
}

Tensor TorchFile::read(std::string_view name, const PickledValue& tensor) const {
  const PickledValue& storage = pickle_->at(tensor.items[0]);
  const std::string_view type = number_type(pickle_->name(pickle_->at(storage.items[0])));
  if (type.empty()) throw std::runtime_error("it holds no floating-point numbers");
  const std::int64_t offset = pickle_->at(tensor.items[1]).integer;
  const Strided how = strided(extents(*pickle_, pickle_->at(tensor.items[2])),
                              extents(*pickle_, pickle_->at(tensor.items[3])));
  const auto entry = entries_.find(prefix_ + "data/" + std::string(storage.text));
  if (entry == entries_.end()) throw std::runtime_error("its content is missing");
  const std::size_t bytes = *stored_bytes(type);
  const auto there = static_cast<std::int64_t>(entry->second.size() / bytes);
  Tensor result{std::string(name), Shape(how.shape), {}};
  if (how.count == 0) return result;
  if (offset < 0 || offset > there || how.last >= there - offset || how.count > there)
    throw std::runtime_error("it is outside of its content, or its shape is larger than that");
  const std::string_view used = entry->second.substr(static_cast<std::size_t>(offset) * bytes,
                                                     static_cast<std::size_t>(how.last + 1) * bytes);
  result.values = gathered(read_numbers(type, used), how);
  if (const auto at = not_finite(result.values))
    throw std::runtime_error(
        format("it holds {} at index {}. Weights must be finite", result.values[*at], *at));
  return result;
}

std::vector<Tensor> TorchFile::tensors(const PickledValue& dictionary,
                                       const std::function<bool(std::string_view)>& wanted) const {
  if (dictionary.kind != Kind::dictionary)
    fail(Exit::bad_data, "{}: has no dictionary of weights", path_.string());
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i + 1 < dictionary.items.size(); i += 2) {
    const PickledValue &name = pickle_->at(dictionary.items[i]),
                       &value = pickle_->at(dictionary.items[i + 1]);
    if (name.kind != Kind::text || value.kind != Kind::tensor)
      fail(Exit::bad_data, "{}: its weights have an entry that is no named tensor", path_.string());
    if (ends_with(name.text, "num_batches_tracked") || !wanted(name.text)) continue;
    try {
      tensors.push_back(read(name.text, value));
    } catch (const std::runtime_error& error) {
      fail(Exit::bad_data, "{}: tensor '{}' cannot be read: {}", path_.string(), name.text, error.what());
    }
  }
  return tensors;
}

bool is_torch_file(const fs::path& path) {
  return path.extension() == ".pth" || path.extension() == ".pt";
}

std::vector<Tensor> read_torch_weights(const fs::path& path) {
  const TorchFile file(path);
  const Pickle& pickle = file.pickle();
  const PickledValue* weights = &pickle.root();
  for (const char* key : {"network_weights", "state_dict", "model"})
    if (const PickledValue* found = pickle.find(pickle.root(), key)) {
      weights = found;
      break;
    }
  return file.tensors(*weights, [](auto) { return true; });
}

}  // namespace voxswap::pipeline
