// Tests the logs of a training by parsing their records and protocol buffers by hand, so that TensorBoard is
// not needed. tests/fixtures/tensorboard_reader.py reads them with TensorBoard's own reader.
#include "pipeline/record/run_logs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "data/volumes/picture.h"
#include "pipeline/record/event_file.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

const std::string resolved = "name: logged\n";

class Logs : public test::InAFolder {
 protected:
  Experiment experiment_with(bool tensorboard, bool jsonl) const {
    Experiment experiment;
    experiment.output = folder_ / "run";
    experiment.training.log = {tensorboard, jsonl};
    return experiment;
  }
  std::vector<fs::path> event_files() const {
    std::vector<fs::path> files;
    if (fs::exists(folder_ / "run" / "tensorboard"))
      for (const auto& entry : fs::directory_iterator(folder_ / "run" / "tensorboard"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
};

std::uint64_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

// The records of a file; also checks their checksums.
std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t length = little_endian(file, at, 8);
    EXPECT_EQ(little_endian(file, at + 8, 4), masked_crc32c(file.substr(at, 8)));
    found.push_back(file.substr(at + 12, length));
    EXPECT_EQ(little_endian(file, at + 12 + length, 4), masked_crc32c(found.back()));
    at += 16 + length;
  }
  return found;
}

// The fields of a protocol buffer message; of repeated fields the last. Fixed-size numbers remain
// little-endian bytes.
struct Message {
  std::map<int, std::string> bytes;
  std::map<int, std::uint64_t> numbers;

  explicit Message(const std::string& text) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(text.at(at++));
        value |= static_cast<std::uint64_t>(byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    while (at < text.size()) {
      const std::uint64_t key = varint();
      const int field = static_cast<int>(key >> 3), kind = static_cast<int>(key & 7);
      if (kind == 0) numbers[field] = varint();
      if (kind == 1) numbers[field] = little_endian(text, at, 8), at += 8;
      if (kind == 5) numbers[field] = little_endian(text, at, 4), at += 4;
      if (kind == 2) {
        const std::uint64_t length = varint();
        bytes[field] = text.substr(at, length);
        at += length;
      }
      if (kind != 0 && kind != 1 && kind != 2 && kind != 5) throw std::runtime_error("no such kind of field");
    }
  }
};

// A number, text or picture of a file, with its step and its fields.
struct Logged {
  std::string name;
  std::uint64_t step;
  Message value;
};
std::vector<Logged> logged(const fs::path& file) {
  std::vector<Logged> all;
  for (const std::string& record : records(read_file(file))) {
    const Message event(record);
    if (!event.bytes.contains(5)) continue;
    const Message value(Message(event.bytes.at(5)).bytes.at(1));
    all.push_back({value.bytes.at(1), event.numbers.at(2), value});
  }
  return all;
}

EpochRow row_of(std::int64_t epoch) {
  EpochRow row;
  row.epoch = epoch;
  row.resolution = "48";
  row.train_loss = -0.5;
  row.validation_loss = -0.25;
  return row;
}

TEST_F(Logs, HaveTheChecksumOfTheirSpecification) {
  // CRC-32C of 32 zeros is 0x8a9136aa (RFC 3720, B.4), masked as in TFRecord files.
  const std::uint32_t crc = 0x8a9136aa;
  EXPECT_EQ(masked_crc32c(std::string(32, '\0')), (crc >> 15 | crc << 17) + 0xa282ead8u);
}

TEST_F(Logs, WriteNumbersOverStepsForTensorBoard) {
  RunLogs logs(experiment_with(true, false), resolved, 1, 1, 1);
  logs.step({1, 1, 2, 1, 0.75, 1e-3, 0.5});
  logs.step({1, 2, 2, 2, -0.125, 1e-3, 0.5});
  logs.epoch(row_of(1), 2, {{"whole_tumor", 0.5}});
  ASSERT_EQ(event_files().size(), 1u);
  EXPECT_TRUE(test::contains(event_files()[0].filename().string(), "tfevents"));
  const std::vector<std::string> all = records(read_file(event_files()[0]));
  EXPECT_EQ(Message(all.at(0)).bytes.at(3), "brain.Event:2");
  std::map<std::pair<std::string, std::uint64_t>, float> numbers;
  for (const auto& [name, step, value] : logged(event_files()[0]))
    if (value.numbers.contains(2))
      numbers[{name, step}] = std::bit_cast<float>(static_cast<std::uint32_t>(value.numbers.at(2)));
  EXPECT_EQ(numbers.at({"loss/step", 1}), 0.75F);
  EXPECT_EQ(numbers.at({"loss/step", 2}), -0.125F);
  EXPECT_EQ(numbers.at({"loss/train", 2}), -0.5F);
  EXPECT_EQ(numbers.at({"validation/whole_tumor", 2}), 0.5F);
}

TEST_F(Logs, HaveTheExperimentAsTextAndPicturesWithTheirSizeAndCaption) {
  const Experiment wanted = experiment_with(true, false);
  RunLogs logs(wanted, resolved, 1, 1, 1);
  const std::vector<std::uint8_t> black(std::size_t{258} * 7 * 3);
  const std::string png =
      data::with_png_text(data::png_bytes(258, 7, black), "Comment", "Outlines: core orange.");
  fs::create_directories(wanted.output / "slices");
  write_file(wanted.output / "slices" / "a.png", png);
  log_pictures(wanted, {"a", "without"});
  std::string text;
  std::map<int, std::uint64_t> picture;
  for (const fs::path& file : event_files())
    for (const auto& [name, step, value] : logged(file)) {
      if (name == "experiment") text = Message(value.bytes.at(8)).bytes.at(8);
      if (name != "slices/a") continue;
      picture = Message(value.bytes.at(4)).numbers;
      EXPECT_EQ(Message(value.bytes.at(9)).bytes.at(3), "Outlines: core orange.");
      EXPECT_EQ(Message(value.bytes.at(4)).bytes.at(4), png);
    }
  EXPECT_EQ(text, "```yaml\nname: logged\n\n```");
  EXPECT_EQ(picture[1], 7u);    // height
  EXPECT_EQ(picture[2], 258u);  // width
}

TEST_F(Logs, TakePicturesUpToTheTenthEpochThenAfterEveryTenth) {
  const RunLogs logs(experiment_with(true, true), resolved, 1, 1, 1),
      without(experiment_with(false, true), resolved, 1, 1, 1);
  for (const std::int64_t epoch : {1, 2, 10, 20, 500}) EXPECT_TRUE(logs.takes_pictures(epoch)) << epoch;
  for (const std::int64_t epoch : {11, 19, 499}) EXPECT_FALSE(logs.takes_pictures(epoch)) << epoch;
  EXPECT_FALSE(without.takes_pictures(1));
  EXPECT_FALSE(RunLogs().takes_pictures(1));
}

TEST_F(Logs, HavePicturesOfAValidationCaseOverSteps) {
  RunLogs logs(experiment_with(true, false), resolved, 1, 1, 1);
  logs.picture("a", 5, "first");
  logs.picture("a", 10, "second");
  std::map<std::uint64_t, std::string> pictures;
  for (const auto& [name, step, value] : logged(event_files().at(0)))
    if (name == "validation/a") pictures[step] = Message(value.bytes.at(4)).bytes.at(4);
  EXPECT_EQ(pictures, (std::map<std::uint64_t, std::string>{{5, "first"}, {10, "second"}}));
}

TEST_F(Logs, SayFromWhichStepOnEarlierFilesDoNotCount) {
  RunLogs logs(experiment_with(true, true), resolved, 1, 2, 11);
  const std::vector<std::string> all = records(read_file(event_files().at(0)));
  const Message restart(all.at(1));
  EXPECT_EQ(restart.numbers.at(2), 11u);
  EXPECT_EQ(Message(restart.bytes.at(7)).numbers.at(1), 1u);  // START
  const Json begin = Json::parse(read_file(folder_ / "run" / "log.jsonl"));
  EXPECT_EQ(begin["next_step"], 11);
  EXPECT_EQ(begin["epoch"], 2);
}

TEST_F(Logs, WriteALineOfJsonPerStepAndEpoch) {
  RunLogs logs(experiment_with(false, true), resolved, 2, 1, 1);
  logs.step({1, 1, 2, 1, 0.75, 1e-3, 0.5});
  logs.epoch(row_of(3), 6, {{"core", 0.25}});
  EXPECT_TRUE(event_files().empty());
  std::vector<Json> lines;
  for (const std::string& line : split(read_file(folder_ / "run" / "log.jsonl"), '\n'))
    if (!line.empty()) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1]["what"], "step");
  EXPECT_EQ(lines[1]["loss"], 0.75);
  EXPECT_EQ(lines[2]["what"], "epoch");
  EXPECT_EQ(lines[2]["epoch"], 3);
  EXPECT_EQ(lines[2]["repeat"], 2);
  EXPECT_EQ(lines[2]["train_loss"], -0.5);
  EXPECT_EQ(lines[2]["validation"]["core"], 0.25);
}

TEST_F(Logs, WriteNothingThatWasNotAskedFor) {
  RunLogs logs(experiment_with(false, false), resolved, 1, 1, 1);
  logs.step({});
  logs.epoch(row_of(1), 1, {});
  log_pictures(experiment_with(false, false), {"a"});
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

}  // namespace
}  // namespace voxswap::pipeline
