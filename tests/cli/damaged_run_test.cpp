// A run whose files, data or settings were changed from outside: a table of changes and the resulting
// messages. Also two processes that want to write to one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/philox.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

void put(const fs::path& file, const std::string& bytes) {
  fs::ofstream(file, std::ios::binary) << bytes;
}

void flip(const fs::path& file, std::size_t byte, int bit) {
  std::string bytes = read_file(file);
  bytes.at(byte) = static_cast<char>(bytes[byte] ^ (1 << bit));
  put(file, bytes);
}

void replace(const fs::path& file, const std::string& before, const std::string& after) {
  std::string text = read_file(file);
  const std::size_t at = text.find(before);
  ASSERT_NE(at, text.npos) << file << " contains no " << before;
  put(file, text.replace(at, before.size(), after));
}

class DamagedRun : public ProgramInASharedFolder<DamagedRun> {
 public:
  // Makes one run of several epochs, which every test copies. It is saved after every step, so that previous
  // checkpoints exist.
  void make_for_all() const {
    phantoms("5", "16");
    for (const char* seed : {"5", "6"}) {
      const std::string name = std::string("seed_") + seed;
      write(name + ".yaml", format("name: tiny\ndata: {{root: {}, modalities: [flair, t1ce], cache: {}}}\n"
                                   "preprocess: {{resolution: 8, normalize: image}}\n"
                                   "network: {{base_filters: 4, depth: 2}}\n"
                                   "training: {{epochs: 3, checkpoint_minutes: 0.000001, seed: {}}}\n",
                                   path("data"), cache_.string(), seed));
      done({"run", path(name + ".yaml"), "--out", path(name)});
    }
  }

 protected:
  void SetUp() override {
    ProgramInASharedFolder::SetUp();
    put_back();
  }
  void put_back() {
    for (const auto& [from, to] : {std::pair{folder_ / "seed_5", run_}, std::pair{folder_ / "data", data_}}) {
      fs::remove_all(to);
      fs::copy(from, to, fs::copy_options::recursive);
    }
  }

  fs::path checkpoint(const std::string& name) const {
    return run_ / "checkpoints" / (name + ".safetensors");
  }
  // Its data is where every test may change it.
  Words resume_command() const { return {"run", path("seed_5.yaml"), "--out", run_.string(), "--resume"}; }
  Words predict_command() const {
    fs::remove_all(folder_ / "maps");
    return {"predict", run_.string(), "--input", data_.string(), "--out", path("maps")};
  }

  const fs::path run_ = folder_ / "run", data_ = folder_ / "data_copy";
};

TEST_F(DamagedRun, IsRefusedOrMendedAndSaysWhatIsWrong) {
  struct Row {
    const char* done;
    bool resumes;  // true: resume; false: predict
    int code;
    const char* says;
    std::function<void()> act;
  };
  const fs::path best = checkpoint("best"), last = checkpoint("last");
  const auto damage = [](const fs::path& file) { flip(file, fs::file_size(file) - 5, 3); };
  const auto of_other = [&](const char* name) {
    fs::copy_file(folder_ / "seed_6/checkpoints" / (std::string(name) + ".safetensors"), checkpoint(name),
                  fs::copy_options::overwrite_existing);
  };
  const auto without = [&](const std::string& name) {
    fs::remove(checkpoint(name));
    fs::remove(checkpoint(name + ".previous"));
  };
  // Removes the metadata, as in a file with the same weights written by another program.
  const auto strip = [](const fs::path& file) {
    std::string bytes = read_file(file);
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    std::string header = bytes.substr(sizeof size, size);
    const std::size_t from = header.find("\"__metadata__\""), to = header.find("},", from) + 2;
    header.replace(from, to - from, to - from, ' ');
    put(file, bytes.replace(8, header.size(), header));
  };
  const std::vector<Row> table = {
      {"nothing", false, 0, "5 label maps", [] {}},
      {"nothing", true, 0, "", [] {}},
      {"a byte of best", false, 3, "best.safetensors: is not a valid safetensors file: it is damaged",
       [&] { damage(best); }},
      {"half of best", false, 3, "best.safetensors", [&] { fs::resize_file(best, fs::file_size(best) / 2); }},
      {"best is empty", false, 3, "it is truncated", [&] { fs::resize_file(best, 0); }},
      {"no best", false, 3, "best.safetensors: is missing", [&] { without("best"); }},
      {"another run's best", false, 3, "is not the best that belongs to last.safetensors",
       [&] { of_other("best"); }},
      {"another run's best by itself", false, 3, "belongs to another run",
       [&] {
         of_other("best");
         without("last");
       }},
      {"another run's both", false, 3, "belongs to another run",
       [&] {
         of_other("best");
         of_other("last");
       }},
      {"best of another program", false, 0, "these weights have no checksums", [&] { strip(best); }},
      {"and NaN in it", false, 3, "holds nan",
       [&] {
         strip(best);
         std::string bytes = read_file(best);
         put(best, bytes.replace(bytes.size() - 4, 4, "\xff\xff\xff\x7f"));
       }},
      {"another depth", false, 3, "network.base_filters was 4, now 6",
       [&] { replace(run_ / "experiment.yaml", "base_filters: 4", "base_filters: 6"); }},
      {"another normalisation", false, 3, "preprocess.normalize was image, now none",
       [&] { replace(run_ / "experiment.yaml", "normalize: image", "normalize: none"); }},
      {"channels change places", false, 3, "was trained with modalities 'flair t1ce'",
       [&] { replace(run_ / "dataset.json", "\"flair\",\n    \"t1ce\"\n", "\"t1ce\",\n    \"flair\"\n"); }},
      {"a description of another run", false, 3, "dataset.json: belongs to another run",
       [&] {
         fs::copy_file(folder_ / "seed_6/dataset.json", run_ / "dataset.json",
                       fs::copy_options::overwrite_existing);
       }},
      {"a row of the split is gone", false, 3, "split.csv: was changed",
       [&] {
         const std::string text = read_file(run_ / "split.csv");
         put(run_ / "split.csv", text.substr(0, text.rfind('\n', text.size() - 2) + 1));
       }},
      {"the identity is edited", false, 3, "identity.json: was changed",
       [&] {
         replace(run_ / "identity.json", "\"network.name\": \"isensee2017\"",
                 "\"network.name\": \"resnet3d\"");
       }},
      {"the identity is cut", false, 3, "identity.json",
       [&] { fs::resize_file(run_ / "identity.json", 100); }},
      {"no identity", false, 0, "cannot be verified that its files belong together",
       [&] { fs::remove(run_ / "identity.json"); }},
      {"a byte of last", true, 0, "Resuming from last.previous.safetensors", [&] { damage(last); }},
      {"no last", true, 0, "last.safetensors: is missing. Resuming from", [&] { fs::remove(last); }},
      {"both lasts", true, 3, "last.safetensors",
       [&] {
         damage(last);
         damage(checkpoint("last.previous"));
       }},
      {"last of another program", true, 3, "has no checksums",
       [&] {
         strip(last);
         fs::remove(checkpoint("last.previous"));
       }},
      {"another run's last", true, 3, "belongs to another run",
       [&] {
         without("last");
         of_other("last");
       }},
      {"another run's best", true, 3, "is not the best that belongs to last.safetensors",
       [&] {
         of_other("best");
         fs::remove(checkpoint("best.previous"));
       }},
      {"no identity", true, 3, "contains no identity.json", [&] { fs::remove(run_ / "identity.json"); }},
      {"rows of the split change", true, 3, "split.csv: was changed",
       [&] { replace(run_ / "split.csv", ",validation", ",training"); }},
      {"no checksums", true, 3, "lacks the checksum of epochs.csv and validation.csv and timing.csv",
       [&] { fs::remove(run_ / "checksums.json"); }},
      {"emptied checksums", true, 3, "checksums.json: lacks the checksum of epochs.csv",
       [&] { put(run_ / "checksums.json", "{}"); }},
      {"an epoch is gone from the table", true, 3, "epochs.csv: was changed after the run wrote it",
       [&] {
         std::string text = read_file(run_ / "epochs.csv");
         const std::size_t second = text.find("tiny,1,8,2,");
         put(run_ / "epochs.csv", text.erase(second, text.find('\n', second) + 1 - second));
       }},
  };
  for (const Row& row : table) {
    put_back();
    row.act();
    const Outcome outcome = program(row.resumes ? resume_command() : predict_command());
    const std::string what = format("{}, {}", row.done, row.resumes ? "resumed" : "predicted");
    EXPECT_TRUE(outcome.code == row.code) << what << ": " << outcome.code << "\n" << outcome.output;
    EXPECT_TRUE(contains(outcome.output, row.says)) << what;
    EXPECT_FALSE(fs::exists(run_ / ".lock")) << what;
    if (row.resumes && outcome.code == 0) {
      for (const char* file : {"last", "best"})
        EXPECT_TRUE(tensors("run", file) == tensors("seed_5", file)) << what << ": " << file;
      EXPECT_EQ(bytes("run/dice.csv"), bytes("seed_5/dice.csv")) << what;
    }
  }
}

TEST_F(DamagedRun, IsNotResumedWithOtherData) {
  // A separate run on data that may change.
  const fs::path own = folder_ / "own";
  const auto command = [&](bool resume) {
    Words words = {"run",        path("seed_5.yaml"),           "--out",
                   own.string(), "data.root=" + data_.string(), "training.epochs=1"};
    if (resume) words.emplace_back("--resume");
    return words;
  };
  fs::remove_all(own);
  done(command(false));
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(data_)) {
    if (fs::is_directory(entry)) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  ASSERT_EQ(cases.size(), 5u);
  const std::string id = cases[1].filename().string();
  struct Row {
    const char* says;
    std::function<void()> act;
  };
  const std::vector<Row> table = {
      {"cases are missing", [&] { fs::remove_all(cases[1]); }},
      {"cases are new",
       [&] {
         const fs::path added = data_ / (id + "0");
         fs::create_directories(added);
         for (const auto& entry : fs::directory_iterator(cases[1])) {
           std::string name = entry.path().filename().string();
           fs::copy_file(entry.path(), added / name.replace(name.find(id), id.size(), id + "0"));
         }
       }},
      {"files of cases have changed",
       [&] {  // the voxels of another case, under this one's name
         const std::string other = cases[2].filename().string();
         fs::copy_file(cases[2] / (other + "_flair.nii.gz"), cases[1] / (id + "_flair.nii.gz"),
                       fs::copy_options::overwrite_existing);
       }},
  };
  const auto state = [&] {
    return read_file(own / "split.csv") + read_file(own / "identity.json") + read_file(own / "dice.csv") +
           read_file(own / "checkpoints/last.safetensors");
  };
  const std::string before = state();
  for (const Row& row : table) {
    put_back();
    row.act();
    const Outcome outcome = program(command(true));
    EXPECT_EQ(outcome.code, 3) << row.says << outcome.output;
    EXPECT_TRUE(contains(outcome.output, row.says, id));
    EXPECT_TRUE(state() == before) << row.says;
  }
  put_back();
  EXPECT_EQ(program(command(true)).code, 0) << "put back as it was";
  EXPECT_TRUE(state() == before);
}

TEST_F(DamagedRun, ReportListsChangedTables) {
  const std::string changed_tables = "changed after the run wrote it: ";
  const Outcome before = done({"report", run_.string()});
  EXPECT_FALSE(contains(before.output, changed_tables));
  replace(run_ / "dice.csv", ",native,", ",training,");  // a table that a run could have written
  replace(run_ / "epochs.csv", "tiny,1,8,1,", "tiny,1,8,1,1");
  const Outcome after = done({"report", run_.string()});
  EXPECT_TRUE(contains(after.output, changed_tables + "epochs.csv, dice.csv"));
  EXPECT_TRUE(contains(read_file(run_ / "report.html"), changed_tables + "epochs.csv, dice.csv"));
}

TEST_F(DamagedRun, IsNotWrittenToByTwo) {
  const fs::path out = folder_ / "both";
  const std::string yaml = path("seed_5.yaml");
  fs::remove_all(out);
  const Surroundings first_log = {.log = folder_ / "first_log"};
  const pid_t first = start(
      {"train", yaml, "--out", out.string(), "training.epochs=100000", "training.early_stop=0"}, first_log);
  // Immediately, before it has prepared anything.
  while (!fs::exists(out / ".lock")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  while (!fs::exists(out / "checkpoints/best.safetensors"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::vector<Words> others = {
      {"run", yaml, "--out", out.string(), "training.seed=9"},
      {"train", yaml, "--out", out.string(), "--resume"},
      {"predict", out.string(), "--input", data_.string(), "--out", (out / "maps").string()},
      {"report", out.string()}};
  for (const auto& words : others) {
    const Outcome second = program(words);
    EXPECT_EQ(second.code, 1) << words[0] << second.output;
    EXPECT_TRUE(contains(second.output, format("another voxswap (process {}) is writing there", first)))
        << words[0];
  }
  EXPECT_FALSE(fs::exists(out / "maps"));
  EXPECT_FALSE(fs::exists(out / "report.html"));
  kill(first, SIGINT);
  failed(finish(first, first_log), 130);
  EXPECT_FALSE(fs::exists(out / ".lock"));
  done({"report", out.string()});
}

}  // namespace
}  // namespace voxswap::cli
