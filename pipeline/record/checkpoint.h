// Checkpoints as safetensors files: named f32 tensors and a map of strings, with checksums over both.
//
// The metadata holds a checksum (XXH3, 128 bits) of every tensor's bytes as `checksum.NAME`, and one of the
// header itself, which holds those, as `checksum`: made while its own 32 digits were zeros. A file that was
// read and has a digest is therefore what was written, to the bit. Files of other programs have none and are
// read all the same, also where their numbers are f64, f16 or bf16; who uses them decides what to say.
// Written whole and renamed into place, so the last good one survives a full disk or a kill.
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
  std::string digest{};         // checksum of all of it, as read; empty: nothing vouches for it

  const Tensor& tensor(const std::string& name, const std::string& where) const;    // throws Exit::bad_data
  const std::string& text(const std::string& key, const std::string& where) const;  // throws Exit::bad_data
};

// Returns the digest. Throws Exit::failed, and writes nothing, when a value is NaN or infinite.
std::string write_checkpoint(const fs::path& path, const Checkpoint& checkpoint);

// Throws Exit::bad_data for a file that is damaged, was altered, or holds a value that is NaN or infinite.
Checkpoint read_checkpoint(const fs::path& path);
// The metadata and the digest alone: tensors are not read, and so not looked at.
Checkpoint read_checkpoint_header(const fs::path& path);

// Broadcasts a checkpoint that rank 0 read to all ranks.
// What rank 0 gives; what the others give does not count.
std::optional<Checkpoint> broadcast(net::Ranks& ranks, std::optional<Checkpoint> checkpoint);

// Floating point types of safetensors files, read as f32.

// Bytes of a number of such a type ("F64", "F32", "F16", "BF16"); nothing for others.
std::optional<std::size_t> stored_bytes(std::string_view type);

// REQUIRES: a type that there are, and whole numbers' bytes.
std::vector<float> read_numbers(std::string_view type, std::string_view bytes);

// Lists of numbers in a checkpoint's metadata.
// A part that is no number is an Exit::bad_data that names `key` and `where`.
std::string numbers_text(const std::vector<double>& values);
std::vector<double> numbers_from(const Checkpoint& checkpoint, const std::string& key,
                                 const std::string& where);

// The normalization of a network's inputs, in a checkpoint's metadata.
// What prediction needs of the data set, in a checkpoint's metadata.
std::map<std::string, std::string> normalization_metadata(const data::Normalization& normalization);
// Throws Exit::bad_data where it is not one of so many channels.
data::Normalization normalization_from(const Checkpoint& checkpoint, std::size_t channels,
                                       const std::string& where);

}  // namespace voxswap::pipeline
