// A restricted reader of Python's pickles: data only.
//
// A pickle is a program for a stack machine that may call any Python function. This reader runs the opcodes
// that make numbers, text, lists, tuples and dictionaries, and knows the few functions with which PyTorch and
// NumPy describe tensors. It calls nothing: every other name, and every other opcode, is an error. Values are
// in one flat list and refer to each other by index, so neither nesting nor cycles lead to recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voxswap::pipeline {

struct PickledValue {
  // name: a function or class ("torch FloatStorage"). storage, tensor: of PyTorch. opaque: a known object
  // without use here, such as a NumPy number.
  enum class Kind { none, boolean, integer, real, text, list, dictionary, name, storage, tensor, opaque };
  Kind kind = Kind::none;
  std::int64_t integer = 0;  // also of a boolean; of a storage: its number of elements
  double real = 0;
  std::string_view text{};           // also the key of a storage; points into the pickle
  std::vector<std::size_t> items{};  // indices of values: of a list or tuple; of a dictionary: key, value, …;
                                     // of a tensor: storage, offset, sizes, strides; of a storage: its type
};

class Pickle {
 public:
  using Index = std::size_t;
  // `names`: further names ("module function") that may occur as values, uncalled. Throws std::runtime_error
  // that says what is wrong: damaged, too large, or a name that could run code. `bytes` must outlive the
  // object.
  explicit Pickle(std::string_view bytes, const std::vector<std::string>& names = {});

  const PickledValue& root() const { return values_[root_]; }
  const PickledValue& at(Index index) const { return values_[index]; }
  const std::string& name(const PickledValue& value) const;  // REQUIRES: kind name
  // The value of a text key of a dictionary; nullptr if there is none or it is no dictionary. The last one
  // counts, as in Python.
  const PickledValue* find(const PickledValue& dictionary, std::string_view key) const;

 private:
  friend class PickleMachine;
  std::vector<PickledValue> values_;
  std::vector<std::string> names_;  // distinct ones; PickledValue::integer is the index
  Index root_ = 0;
};

}  // namespace voxswap::pipeline
