#include "pipeline/record/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/text.h"

namespace voxswap::pipeline {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

namespace {

constexpr std::string_view checksum_key = "checksum", tensor_checksum_key = "checksum.";
constexpr std::size_t digits = 32;
constexpr std::uint64_t largest_header = 100'000'000;  // as in the safetensors library

struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string checksum(std::string_view bytes) {
  return Hasher().add(bytes.data(), bytes.size()).digest();
}

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float)};
}

// Position of the header's own checksum in its text. Inside a JSON string the key's quotes would be escaped,
// and a tensor of that name is an object, not a string.
std::size_t place_of_digest(std::string_view header) {
  constexpr std::string_view key = "\"checksum\":\"";
  const std::size_t at = header.find(key);
  return at == header.npos || header.size() - at < key.size() + digits ? header.npos : at + key.size();
}

std::string digest_of_header(std::string header, std::size_t place) {
  header.replace(place, digits, digits, '0');
  return checksum(header);
}

// The header including its checksum, which is also returned in `digest`.
std::string header_text(const Checkpoint& checkpoint, std::string& digest) {
  Json header, metadata;
  metadata[std::string(checksum_key)] = std::string(digits, '0');
  for (const auto& [key, value] : checkpoint.metadata) metadata[key] = value;
  for (const Tensor& tensor : checkpoint.tensors)
    metadata[std::string(tensor_checksum_key) + tensor.name] = checksum(bytes_of(tensor));
  header["__metadata__"] = std::move(metadata);
  std::size_t offset = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape.extents()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the format requires aligned data
  const std::size_t place = place_of_digest(text);
  digest = digest_of_header(text, place);
  return text.replace(place, digits, digest);
}

// Moves the checksums out of the metadata. A file with some but not all of them is damaged, not written by
// another program.
std::map<std::string, std::string> take_checksums(Checkpoint& checkpoint, std::string_view header) {
  std::map<std::string, std::string> checksums;
  std::erase_if(checkpoint.metadata, [&](const auto& entry) {
    const auto& [key, value] = entry;
    const bool of_tensor = key.starts_with(tensor_checksum_key), of_header = key == checksum_key;
    if (of_tensor) checksums[key.substr(tensor_checksum_key.size())] = value;
    if (of_header) checkpoint.digest = value;
    return of_tensor || of_header;
  });
  if (checksums.empty() && checkpoint.digest.empty()) return {};
  const std::size_t place = place_of_digest(header);
  if (place == header.npos || digest_of_header(std::string(header), place) != checkpoint.digest)
    throw Unreadable("it is damaged: its header does not match its checksum");
  return checksums;
}

std::size_t bytes_of_shape(const std::string& name, const Shape& shape, std::size_t of_number,
                           std::size_t most) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape.extents()) {
    if (extent < 0 || (extent > 0 && count > most / static_cast<std::size_t>(extent)))
      throw Unreadable("tensor '" + name + "' is outside the file");
    count *= static_cast<std::size_t>(extent);
  }
  return count * of_number;
}

struct TensorRange {  // byte range of a tensor's data
  std::size_t begin, end;
  std::string name;
};

TensorRange range_of(const std::string& name, const Json& entry, std::string_view data, std::size_t bytes) {
  const auto [begin, end] = entry.at("data_offsets").get<std::pair<std::size_t, std::size_t>>();
  if (end > data.size() || begin > end || end - begin != bytes)
    throw Unreadable("tensor '" + name + "' is outside the file, or its length does not match its shape");
  return {begin, end, name};
}

Tensor read_tensor(const std::string& name, const Json& entry, std::string_view data,
                   std::vector<TensorRange>& ranges) {
  const auto type = entry.at("dtype").get<std::string>();
  const std::optional<std::size_t> of_number = stored_bytes(type);
  if (!of_number)
    throw Unreadable("tensor '" + name + "' is " + type + "; expected one of F32, F64, F16, BF16");
  Tensor tensor{name, Shape(entry.at("shape").get<std::vector<std::int64_t>>()), {}};
  const std::size_t bytes = bytes_of_shape(name, tensor.shape, *of_number, data.size());
  ranges.push_back(range_of(name, entry, data, bytes));
  tensor.values = read_numbers(type, data.substr(ranges.back().begin, bytes));
  return tensor;
}

// True for the batch counter of PyTorch's batch norm, which is not used.
bool is_counter(const std::string& name, const Json& entry) {
  return ends_with(name, "num_batches_tracked") && entry.at("dtype").get<std::string>() == "I64";
}

// The format allows neither gaps nor overlapping tensors.
void check_coverage(std::vector<TensorRange> ranges, std::size_t size) {
  std::ranges::sort(ranges, {}, [](const TensorRange& range) { return std::tie(range.begin, range.end); });
  std::size_t reached = 0;
  for (const TensorRange& range : ranges) {
    if (range.begin < reached) throw Unreadable("tensor '" + range.name + "' overlaps another");
    if (range.begin > reached) throw Unreadable("there are unused bytes before tensor '" + range.name + "'");
    reached = range.end;
  }
  if (reached != size)
    throw Unreadable(format("it has {} that belong to no tensor", counted(size - reached, "byte")));
}

void check_values(const Checkpoint& checkpoint, const std::map<std::string, std::string>& checksums) {
  for (const Tensor& tensor : checkpoint.tensors) {
    const auto found = checksums.find(tensor.name);
    if (!checkpoint.digest.empty() &&
        (found == checksums.end() || found->second != checksum(bytes_of(tensor))))
      throw Unreadable("it is damaged: tensor '" + tensor.name + "' does not match its checksum");
    if (const auto at = not_finite(tensor.values))
      throw Unreadable(format("tensor '{}' holds {} at index {}; weights must be finite", tensor.name,
                              tensor.values[*at], *at));
  }
}

std::uint64_t header_size(std::string_view content, std::uint64_t file_size) {
  std::uint64_t size = 0;
  if (content.size() < sizeof size) throw Unreadable("it is truncated");
  std::memcpy(&size, content.data(), sizeof size);
  if (size > largest_header) throw Unreadable("it does not begin with the length of a header");
  if (size > file_size - sizeof size) throw Unreadable("it is truncated");
  return size;
}

Json parse_header(std::string_view header, Checkpoint& checkpoint,
                  std::map<std::string, std::string>& checksums) {
  Json json = checked_json(header);
  if (!json.is_object()) throw Unreadable("its header is not a JSON object");
  if (const auto metadata = json.find("__metadata__"); metadata != json.end())
    checkpoint.metadata = metadata->get<std::map<std::string, std::string>>();
  checksums = take_checksums(checkpoint, header);
  return json;
}

template <class Read>
Checkpoint reading(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(Exit::bad_data, "{}: is not a valid safetensors file: {}", path.string(), error.what());
  }
}

}  // namespace

std::optional<std::size_t> not_finite(const std::vector<float>& values) {
  const auto found = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

const Tensor& Checkpoint::tensor(const std::string& name, const std::string& where) const {
  if (const auto found = std::ranges::find(tensors, name, &Tensor::name); found != tensors.end())
    return *found;
  fail(Exit::bad_data, "{}: has no tensor '{}', so it belongs to another network", where, name);
}

const std::string& Checkpoint::text(const std::string& key, const std::string& where) const {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    fail(Exit::bad_data, "{}: has no entry '{}', so it is not a voxswap checkpoint", where, key);
  return found->second;
}

std::string Checkpoint::entry(const std::string& key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

std::string write_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  for (const Tensor& tensor : checkpoint.tensors) {
    if (const auto at = not_finite(tensor.values))
      fail(Exit::failed,
           "{}: not written, because '{}' became {}. The previous one is kept. Try a lower {}, or precision "
           "f32",
           path.string(), tensor.name, tensor.values[*at], key::training_optimizer_learning_rate);
  }
  std::string digest;
  const std::string header = header_text(checkpoint, digest);
  const std::uint64_t size = header.size();
  write_file(path, [&](const Append& append) {
    append(&size, sizeof size);
    append(header.data(), header.size());
    for (const Tensor& tensor : checkpoint.tensors)
      append(tensor.values.data(), tensor.values.size() * sizeof(float));
  });
  return digest;
}

Checkpoint read_checkpoint(const fs::path& path) {
  const std::string content = read_file(path);
  return reading(path, [&] {
    const std::string_view all(content);
    const std::uint64_t size = header_size(all, all.size());
    Checkpoint checkpoint;
    std::map<std::string, std::string> checksums;
    const Json header = parse_header(all.substr(sizeof size, size), checkpoint, checksums);
    const std::string_view data = all.substr(sizeof size + size);
    std::vector<TensorRange> ranges;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      if (is_counter(name, entry))
        ranges.push_back(range_of(name, entry, data, sizeof(std::int64_t)));
      else
        checkpoint.tensors.push_back(read_tensor(name, entry, data, ranges));
    }
    check_coverage(std::move(ranges), data.size());
    check_values(checkpoint, checksums);
    return checkpoint;
  });
}

Checkpoint read_checkpoint_header(const fs::path& path) {
  return reading(path, [&] {
    const std::string start = read_file(path, sizeof(std::uint64_t));
    const std::uint64_t size = header_size(start, fs::file_size(path));
    const std::string content = read_file(path, sizeof size + size);
    if (content.size() < sizeof size + size) throw Unreadable("it is truncated");
    Checkpoint checkpoint;
    std::map<std::string, std::string> checksums;
    parse_header(content.substr(sizeof size), checkpoint, checksums);
    return checkpoint;
  });
}

namespace {

// Everything except the numbers.
std::string description_of(const Checkpoint& checkpoint) {
  Json json = {{"metadata", checkpoint.metadata}, {"digest", checkpoint.digest}, {"tensors", Json::array()}};
  for (const Tensor& tensor : checkpoint.tensors)
    json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape.extents()}});
  return json.dump();
}

Checkpoint described(const std::string& description) {
  const Json json = checked_json(description);
  Checkpoint checkpoint;
  checkpoint.metadata = json.at("metadata").get<std::map<std::string, std::string>>();
  checkpoint.digest = json.at("digest").get<std::string>();
  for (const Json& one : json.at("tensors")) {
    Tensor tensor{
        one.at("name").get<std::string>(), Shape(one.at("shape").get<std::vector<std::int64_t>>()), {}};
    tensor.values.resize(static_cast<std::size_t>(tensor.shape.count()));
    checkpoint.tensors.push_back(std::move(tensor));
  }
  return checkpoint;
}

}  // namespace

std::optional<Checkpoint> broadcast(net::Ranks& ranks, std::optional<Checkpoint> checkpoint) {
  if (ranks.is_alone()) return checkpoint;
  const std::string description = net::broadcast(ranks, checkpoint ? description_of(*checkpoint) : "");
  if (description.empty()) return std::nullopt;
  if (!ranks.is_first()) checkpoint = described(description);
  for (Tensor& tensor : checkpoint->tensors)
    net::broadcast(ranks, tensor.values.data(),
                   static_cast<std::int64_t>(tensor.values.size() * sizeof(float)));
  return checkpoint;
}

}  // namespace voxswap::pipeline
