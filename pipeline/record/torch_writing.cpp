#include "pipeline/record/torch_writing.h"

#include <boost/crc.hpp>
#include <cstdint>
#include <limits>
#include <map>

#include "base/error.h"

namespace voxswap::pipeline {

namespace {

template <class T>
void append_bytes(std::string& bytes, T value) {  // little-endian, as this program's processors are
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Opcodes of pickle's protocol 2.
class PickleWriter {
 public:
  PickleWriter() { bytes_.append("\x80\x02", 2); }

  void op(char code) { bytes_ += code; }
  void text(const std::string& text) {
    op('X');
    append_bytes(bytes_, static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  void integer(std::int64_t value) {
    if (value >= 0 && value < 256) {
      op('K');
      append_bytes(bytes_, static_cast<std::uint8_t>(value));
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max()) {
      op('J');
      append_bytes(bytes_, static_cast<std::int32_t>(value));
    } else {
      bytes_.append("\x8a\x08", 2);
      append_bytes(bytes_, value);
    }
  }
  void integers(const std::vector<std::int64_t>& values) {  // a tuple
    op('(');
    for (const std::int64_t value : values) integer(value);
    op('t');
  }
  void name(const std::string& module, const std::string& name) {
    bytes_ += "c" + module + "\n" + name + "\n";
  }
  // A dictionary of what `entries` writes: keys and values in turn.
  template <class Entries>
  void dictionary(Entries entries) {
    bytes_ += "}(";
    entries();
    op('u');
  }
  void json(const Json& value) {
    if (value.is_null()) return op('N');
    if (value.is_string()) return text(value.get<std::string>());
    if (value.is_number_integer()) return integer(value.get<std::int64_t>());
    if (value.is_object())
      return dictionary([&] {
        for (const auto& [key, item] : value.items()) text(key), json(item);
      });
    op('(');
    for (const Json& item : value) json(item);
    op('t');
  }
  // torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks)
  void tensor(const std::string& storage, const Shape& shape) {
    std::vector<std::int64_t> strides;
    for (int axis = 1; axis <= shape.rank(); ++axis) strides.push_back(shape.count_from(axis));
    name("torch._utils", "_rebuild_tensor_v2");
    bytes_ += "((";
    text("storage");
    name("torch", "FloatStorage");
    text(storage);
    text("cpu");
    integer(shape.count());
    bytes_ += "tQ";
    integer(0);
    integers(shape.extents());
    integers(strides);
    op('\x89');  // false
    name("collections", "OrderedDict");
    bytes_ += ")RtR";
  }
  std::string finished() {
    op('.');
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

// An archive of stored files (APPNOTE.TXT of PKWARE). PyTorch wants contents at multiples of 64 bytes.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content) {
    boost::crc_32_type sum;
    sum.process_bytes(content.data(), content.size());
    const std::size_t at = archive_.size(), begin = at + local_size + name.size();
    const std::size_t padding = (alignment - (begin + extra_size) % alignment) % alignment + extra_size;
    std::string facts;                       // that both headers have
    append_bytes(facts, std::uint16_t{20});  // version that can read it
    facts.append(8, '\0');                   // flags, method, time and date
    append_bytes(facts, static_cast<std::uint32_t>(sum.checksum()));
    append_bytes(facts, static_cast<std::uint32_t>(content.size()));
    append_bytes(facts, static_cast<std::uint32_t>(content.size()));
    append_bytes(facts, static_cast<std::uint16_t>(name.size()));
    archive_ += "PK\x03\x04" + facts;
    append_bytes(archive_, static_cast<std::uint16_t>(padding));
    archive_ += name + "FB";  // an extra field, as PyTorch pads
    append_bytes(archive_, static_cast<std::uint16_t>(padding - extra_size));
    archive_.append(padding - extra_size, 'Z');
    archive_ += content;
    if (archive_.size() > std::numeric_limits<std::uint32_t>::max())
      fail(Exit::failed, "a file of PyTorch above 4 GiB cannot be written");
    directory_ += "PK\x01\x02";
    append_bytes(directory_, std::uint16_t{20});  // version that made it
    directory_ += facts;
    directory_.append(12, '\0');  // extra field, comment, disk, attributes
    append_bytes(directory_, static_cast<std::uint32_t>(at));
    directory_ += name;
    ++count_;
  }
  std::string finished() {
    const std::size_t at = archive_.size(), size = directory_.size();
    archive_ += directory_ + "PK\x05\x06";
    archive_.append(4, '\0');  // disks
    append_bytes(archive_, count_);
    append_bytes(archive_, count_);
    append_bytes(archive_, static_cast<std::uint32_t>(size));
    append_bytes(archive_, static_cast<std::uint32_t>(at));
    archive_.append(2, '\0');  // comment
    return std::move(archive_);
  }

 private:
  static constexpr std::size_t local_size = 30, extra_size = 4, alignment = 64;
  std::string archive_, directory_;
  std::uint16_t count_ = 0;
};

}  // namespace

std::string torch_file(const std::string& key, const std::vector<NamedTensor>& tensors, const Json& others) {
  std::map<const Tensor*, std::string> storages;
  std::vector<const Tensor*> in_order;
  for (const NamedTensor& one : tensors)
    if (storages.emplace(one.tensor, std::to_string(storages.size())).second) in_order.push_back(one.tensor);
  PickleWriter pickle;
  pickle.dictionary([&] {
    pickle.text(key);
    pickle.dictionary([&] {
      for (const NamedTensor& one : tensors) {
        pickle.text(one.name);
        pickle.tensor(storages.at(one.tensor), one.shape);
      }
    });
    for (const auto& [name, value] : others.items()) {
      pickle.text(name);
      pickle.json(value);
    }
  });
  ZipWriter zip;
  zip.add("archive/data.pkl", pickle.finished());
  zip.add("archive/byteorder", "little");
  for (const Tensor* tensor : in_order)
    zip.add("archive/data/" + storages.at(tensor),
            {reinterpret_cast<const char*>(tensor->values.data()), tensor->values.size() * sizeof(float)});
  zip.add("archive/version", "3\n");
  return zip.finished();
}

}  // namespace voxswap::pipeline
