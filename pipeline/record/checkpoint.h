// Checkpoints as safetensors files: named f32 tensors and a map of strings, both with checksums.
//
// The metadata contains a checksum (XXH3, 128 bits) of every tensor's bytes as `checksum.NAME`, and one of
// the header, computed with its own 32 digits set to zero, as `checksum`. A file that was read and has a
// digest is thus identical to the bit to what was written. Files of other programs lack checksums but can be
// read, including f64, f16 and bf16 tensors; callers decide whether to accept them. A file is written
// completely and then renamed, so that the previous one survives a full disk or a kill.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/shape.h"
#include "data/prepare/prepare.h"
#include "net/collective/ranks.h"

namespace voxswap::pipeline {

struct Tensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

struct Checkpoint {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in file order
  std::string digest{};         // checksum of the whole file, as read; empty: not verified

  const Tensor& tensor(const std::string& name, const std::string& where) const;    // throws Exit::bad_data
  const std::string& text(const std::string& key, const std::string& where) const;  // throws Exit::bad_data
  std::string entry(const std::string& key) const;  // of the metadata; empty if there is none
};

// Returns the digest. Throws Exit::failed without writing if a value is NaN or infinite.
std::string write_checkpoint(const fs::path& path, const Checkpoint& checkpoint);

// Throws Exit::bad_data if the file is damaged or modified, or contains NaN or infinity.
Checkpoint read_checkpoint(const fs::path& path);
// Reads only metadata and digest; tensors are neither read nor verified.
Checkpoint read_checkpoint_header(const fs::path& path);

// Broadcasts rank 0's checkpoint to all ranks; the argument of other ranks is ignored.
std::optional<Checkpoint> broadcast(net::Ranks& ranks, std::optional<Checkpoint> checkpoint);

// Reads floating-point types of safetensors files as f32.

// Bytes per number of "F64", "F32", "F16" and "BF16"; nullopt for other types.
std::optional<std::size_t> stored_bytes(std::string_view type);

// REQUIRES: a supported type, and bytes of complete numbers.
std::vector<float> read_numbers(std::string_view type, std::string_view bytes);

// Index of the first NaN or infinity; nullopt if all values are finite.
std::optional<std::size_t> not_finite(const std::vector<float>& values);

// Lists of numbers in a checkpoint's metadata. Throws Exit::bad_data that names `key` and `where` if an entry
// is not a number.
std::string numbers_text(const std::vector<double>& values);
std::vector<double> numbers_from(const Checkpoint& checkpoint, const std::string& key,
                                 const std::string& where);

// Intensity normalisation of the data set, which prediction needs, in a checkpoint's metadata.
std::map<std::string, std::string> normalization_metadata(const data::Normalization& normalization);
// Throws Exit::bad_data if the metadata does not describe this number of channels.
data::Normalization normalization_from(const Checkpoint& checkpoint, std::size_t channels,
                                       const std::string& where);

}  // namespace voxswap::pipeline
