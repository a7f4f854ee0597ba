#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/file_bytes.h"
#include "data/formats/header_text.h"

namespace voxswap::data {

namespace {

constexpr std::uint32_t pixel_data = 0x7fe00010, transfer_syntax = 0x00020010;
constexpr std::uint32_t item = 0xfffee000, item_end = 0xfffee00d, sequence_end = 0xfffee0dd;
constexpr std::uint32_t undefined = DicomElements::in_fragments;
constexpr std::uint32_t longest_value = 1024;  // of values that are kept

struct Element {
  std::uint32_t tag = 0, length = 0;
  bool unknown_type = false;  // UN: its content is always encoded without types
};

class Walker {
 public:
  Walker(const fs::path& path, std::uint32_t last) : path_(path), file_(path), last_(last) {
    error_code missing;
    size_ = static_cast<std::int64_t>(fs::file_size(path, missing));
    if (missing) fail(Exit::bad_data, "{}: cannot be opened", path.string());
    file_.seek(128 + 4);  // skips the preamble and the letters DICM
  }

  // Walks up to the pixels; nullopt if the file has none.
  std::optional<Element> walk() {
    while (const std::optional<Element> element = next()) {
      if (element->tag == pixel_data) return element;
      if (element->tag > last_) return std::nullopt;
      if (element->length <= longest_value) keep(*element);
      skip(*element, 0);
    }
    return std::nullopt;
  }

  // Compressed pixels are items that end with a sequence delimiter: part 5, A.4.
  void check_fragments() {
    while (const std::optional<Element> element = next()) {
      if (element->tag == sequence_end) return;
      if (element->tag != item) break;
      file_.seek(file_.position() + element->length);
      if (position() > size_) break;
    }
    truncated("its compressed pixels end early");
  }

  [[noreturn]] void truncated(const std::string& how) const {
    fail(Exit::bad_data, "{}: is truncated: {}. Fetch or copy the file again", path_.string(), how);
  }

  std::int64_t position() const { return file_.ended() ? size_ + 1 : file_.position(); }
  std::int64_t size() const { return size_; }
  DicomElements& found() { return found_; }

 private:
  std::optional<std::uint32_t> number(std::size_t bytes) {
    std::array<unsigned char, 4> read{};
    if (!file_.read(read.data(), static_cast<std::int64_t>(bytes))) return {};
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | read[found_.big_endian ? i : bytes - 1 - i];
    return value;
  }

  // The first group has a fixed encoding; it names the encoding of the others.
  void leave_first_group() {
    in_first_group_ = false;
    const std::string& syntax = found_.syntax = found_.text(transfer_syntax);
    found_.big_endian = syntax == "1.2.840.10008.1.2.2";
    found_.deflated = syntax == "1.2.840.10008.1.2.1.99";
    typed_ = syntax != "1.2.840.10008.1.2";
  }

  std::optional<Element> next() {
    const std::int64_t begin = file_.position();
    const auto group = number(2);
    if (in_first_group_ && group && *group != 2) {
      leave_first_group();
      if (found_.deflated) return std::nullopt;
      file_.seek(begin);
      return next();
    }
    const auto element = number(2);
    if (!group || !element) return std::nullopt;
    return with_length({*group << 16 | *element, 0, false});
  }

  std::optional<Element> with_length(Element element) {
    std::size_t bytes = 4;
    if (typed_ && element.tag >> 16 != 0xfffe) {
      std::array<char, 2> type{};
      if (!file_.read(type.data(), 2)) return std::nullopt;
      const std::string_view name(type.data(), 2);
      constexpr std::string_view with_long_lengths = "OB OD OF OL OV OW SQ SV UC UN UR UT UV ";
      if (with_long_lengths.find(std::string(name) + " ") != std::string_view::npos) {
        file_.seek(file_.position() + 2);
      } else {
        bytes = 2;
      }
      element.unknown_type = name == "UN";
    }
    const auto length = number(bytes);
    if (!length) return std::nullopt;
    element.length = *length;
    return element;
  }

  void keep(const Element& element) {
    const std::int64_t begin = file_.position();
    std::string value(element.length, '\0');
    if (file_.read(value.data(), element.length)) found_.values[element.tag] = std::move(value);
    file_.seek(begin);
  }

  void skip(const Element& element, int depth) {
    constexpr int deepest = 64;
    if (element.length != undefined) {
      if (element.length > size_ - position())
        truncated(format("its element ({:04x},{:04x}) should have {}, found {}", element.tag >> 16,
                         element.tag & 0xffff, counted(element.length, "byte"),
                         std::max<std::int64_t>(0, size_ - position())));
      file_.seek(file_.position() + element.length);
      return;
    }
    const bool typed = typed_;
    if (element.unknown_type) typed_ = false;
    while (true) {
      const std::optional<Element> inner = next();
      if (!inner || depth == deepest) truncated("it ends within a sequence");
      if (inner->tag == sequence_end || inner->tag == item_end) break;
      skip(*inner, depth + 1);
    }
    typed_ = typed;
  }

  fs::path path_;
  FileBytes file_;
  std::int64_t size_ = 0;
  std::uint32_t last_;
  bool in_first_group_ = true, typed_ = true;
  DicomElements found_;
};

}  // namespace

std::string DicomElements::text(std::uint32_t tag) const {
  const auto found = values.find(tag);
  return found == values.end() ? std::string() : trim(found->second.substr(0, found->second.find('\0')));
}

std::int64_t DicomElements::number(std::uint32_t tag, std::int64_t otherwise) const {
  const auto found = values.find(tag);
  if (found == values.end()) return otherwise;
  const std::string& bytes = found->second;
  if (bytes.size() == 2 && tag != 0x00280008) {  // the number of frames is text
    const auto low = static_cast<unsigned char>(bytes[big_endian ? 1 : 0]),
               high = static_cast<unsigned char>(bytes[big_endian ? 0 : 1]);
    return high << 8 | low;
  }
  const std::string digits = text(tag);
  std::int64_t value = otherwise;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::vector<double> DicomElements::numbers(std::uint32_t tag) const {
  std::vector<double> read;
  for (const std::string& part : split(text(tag), '\\')) {
    const auto one = numbers_of(trim(part));
    if (!one || one->size() != 1) return {};
    read.push_back(one->front());
  }
  return read;
}

DicomElements read_elements(const fs::path& path) {
  Walker walker(path, pixel_data);
  const std::optional<Element> pixels = walker.walk();
  if (walker.found().deflated) return walker.found();
  if (!pixels) walker.truncated("it ends before its pixels begin (or is a DICOM file without an image)");
  walker.found().pixel_length = pixels->length;
  walker.found().pixel_begin = walker.position();
  walker.found().pixel_end = walker.position() + static_cast<std::int64_t>(pixels->length);
  if (pixels->length == undefined) {
    walker.check_fragments();
    walker.found().pixel_end = walker.position();
  } else if (pixels->length > walker.size() - walker.position()) {
    walker.truncated(format("its header declares {} of pixels, found {}", counted(pixels->length, "byte"),
                            walker.size() - walker.position()));
  }
  return walker.found();
}

DicomElements read_elements_up_to(const fs::path& path, std::uint32_t last) {
  Walker walker(path, last);
  try {
    walker.walk();
  } catch (const Error&) {
    // Errors in the file are reported when it is read.
  }
  return walker.found();
}

}  // namespace voxswap::data
