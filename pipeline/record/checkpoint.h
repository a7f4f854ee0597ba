// Checkpoints as safetensors files: named f32 tensors and a map of strings, with checksums over both.
//
// The metadata holds a checksum (XXH3, 128 bits) of every tensor's bytes as `checksum.NAME`, and one of the
// header itself, which holds those, as `checksum`: made while its own 32 digits were zeros. A file that was
// read and has a digest is therefore what was written, to the bit. Files of other programs have none and are
// read all the same, also where their numbers are f64, f16 or bf16; who uses them decides what to say.
// Written whole and renamed into place, so the last good one survives a full disk or a kill.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "base/shape.h"

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

}  // namespace voxswap::pipeline
