// Reads files of one kind, whose paths are on stdin, one per line. Prints a line for each: the exit code and
// the message, or 0 and a digest of the content. Used by the campaign, which reads thousands of damaged files
// in one process and sees crashes at once. With VOXSWAP_FUZZ it is a target for libFuzzer (fuzz.py) instead.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <new>

#include "base/checksummed_file.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/layouts/dataset.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/open_dataset.h"
#include "data/prepare/cache.h"
#include "data/prepare/prepare.h"
#include "experiments/experiment.h"
#include "experiments/nnunet_results.h"
#include "library/bundle.h"
#include "library/model.h"
#include "pipeline/cases/split.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/torch_file.h"
#include "pipeline/report/tables.h"
#include "tests/data/encoded_images.h"

namespace voxswap {
namespace {

template <class Row>
void table(const fs::path& path, Hasher& hasher) {
  hasher.add(format("{}", pipeline::rows_of<Row>(read_csv(path), path.string()).size()));
}

void image(const fs::path& path, Hasher& hasher) {
  for (const data::Image& volume : data::read_images(path)) {
    hasher.add(volume.voxels.data(), volume.voxels.size() * sizeof(float));
    hasher.add(&volume.geometry.origin, sizeof volume.geometry.origin);
  }
}

void checkpoint(const fs::path& path, Hasher& hasher) {
  const pipeline::Checkpoint read = pipeline::read_checkpoint(path);
  for (const auto& [key, value] : read.metadata) hasher.add(key).add(value);
  for (const pipeline::Tensor& tensor : read.tensors)
    hasher.add(tensor.name).add(tensor.values.data(), tensor.values.size() * sizeof(float));
}

// The cases of a damaged split are those of the data set next to it.
void split_file(const fs::path& path, Hasher& hasher) {
  data::DatasetOptions data;
  data.root = path.parent_path() / "data";
  pipeline::SplitOptions options;
  options.file = path;
  const pipeline::Split split = pipeline::make_split(data::open_dataset(data), options);
  for (const std::size_t index : split.training) hasher.add(&index, sizeof index);
}

void dataset(const fs::path& folder, Hasher& hasher) {
  data::DatasetOptions data;
  data.root = folder;
  const data::Dataset opened = data::open_dataset(data);
  for (const data::CaseFiles& files : opened.cases)
    hasher.add(files.id).add(data::read_case(opened, files).id);
}

// A checksummed file of the cache; a damaged one is ignored.
void sealed(const fs::path& path, Hasher& hasher) {
  const auto text = read_checksummed(path);
  if (!text) fail(Exit::bad_data, "{}: is found anew", path.string());
  hasher.add(*text);
}

// A prepared case, with its experiment next to it. A damaged one is prepared again, so the result and the new
// cache file are the same as for an undamaged one.
void prepared(const fs::path& path, Hasher& hasher) {
  const pipeline::Experiment run = experiments::load_experiment(path.parent_path() / "experiment.yaml", {});
  const data::Dataset data = data::open_dataset(run.data);
  const std::string name = path.filename().string();
  for (const data::CaseFiles& files : data.cases) {
    if (!name.starts_with(files.id + "-")) continue;
    const data::PreparedCase got = data::PreparedCache(data, run.preprocess, path.parent_path()).get(files);
    hasher.add(got.image.data(), got.image.size() * sizeof got.image[0]);
    hasher.add(got.truth.data(), got.truth.size() * sizeof got.truth[0]);
  }
  hasher.add(read_file(path));
}

// A file of PyTorch. The weights of nnU-Net's checkpoints, or of a state_dict.
void torch_file(const fs::path& path, Hasher& hasher) {
  for (const pipeline::Tensor& tensor : pipeline::read_torch_weights(path))
    hasher.add(tensor.name).add(tensor.values.data(), tensor.values.size() * sizeof(float));
}

// A packed model, with all its weights.
void model(const fs::path& path, Hasher& hasher) {
  const library::Model read = library::read_model(path);
  for (const auto& [name, content] : read.files) hasher.add(name).add(content);
  for (const auto& [name, weights] : read.weights) hasher.add(name).add(format("{}", weights.tensors.size()));
}

// A folder of another program, imported as a run next to it.
template <void import(const fs::path& folder, const fs::path& out)>
void imported(const fs::path& path, Hasher& hasher) {
  const fs::path out = path.string() + ".run";
  import(path, out);
  hasher.add(read_file(out / "experiment.yaml"));
  fs::remove_all(out);
}

const std::map<std::string, std::function<void(const fs::path&, Hasher&)>> kinds = {
    {"image", image},
    {"label_map", [](const fs::path& path,
                     Hasher& hasher) { hasher.add(format("{}", data::read_label_map(path).voxels.size())); }},
    {"checkpoint", checkpoint},
    {"torch", torch_file},
    {"model", model},
    {"bundle", imported<library::import_bundle>},
    {"nnU-Net", imported<experiments::import_nnunet_results>},
    {"split", split_file},
    {"dataset", dataset},
    {"description", [](const fs::path& path,
                       Hasher& hasher) { hasher.add(join(data::read_description(path).modalities, ",")); }},
    {"experiment", [](const fs::path& path,
                      Hasher& hasher) { hasher.add(experiments::load_experiment(path, {}).resolved); }},
    {"dice", table<pipeline::DiceRow>},
    {"epochs", table<pipeline::EpochRow>},
    {"timing", table<pipeline::TimingRow>},
    {"validation", table<pipeline::ValidationRow>},
    {"memory", table<pipeline::MemoryRow>},
    {"sealed", sealed},
    {"prepared", prepared},
};

std::string outcome(const std::function<void(const fs::path&, Hasher&)>& read, const fs::path& path) {
  try {
    Hasher hasher;
    read(path, hasher);
    return "0\t" + hasher.digest();
  } catch (const Error& error) {
    return format("{}\t{}", static_cast<int>(error.exit()), error.what());
  } catch (const std::bad_alloc&) {
    return format("{}\tout of memory", static_cast<int>(Exit::does_not_fit));
  } catch (const std::exception& error) {
    return format("1\tnot an error of the project: {}", error.what());
  }
}

}  // namespace
}  // namespace voxswap

#ifdef VOXSWAP_FUZZ
// Writes the bytes to the file FUZZ_FILE and reads FUZZ_PATH (that file or its folder) as kind FUZZ_KIND.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace voxswap;
  static const auto read = kinds.at(std::getenv("FUZZ_KIND"));
  static const fs::path file = std::getenv("FUZZ_FILE"), path = std::getenv("FUZZ_PATH");
  log::set_level(log::Level::error);
  fs::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  const std::string line = outcome(read, path);
  if (line.front() == '1') {
    std::fprintf(stderr, "%s\n", line.c_str());
    std::abort();
  }
  return 0;
}
#else
int main(int count, char** values) {
  using namespace voxswap;
  if (count == 3 && values[1] == std::string("encoded")) {  // the output folder
    test::write_encoded_images(values[2]);
    return 0;
  }
  const auto kind = kinds.find(count == 2 ? values[1] : "");
  if (kind == kinds.end()) {
    std::fputs("usage: read_files KIND < paths\n       read_files encoded FOLDER\n", stderr);
    return 2;
  }
  log::set_level(log::Level::error);
  for (std::string path; std::getline(std::cin, path);) {
    std::string line = outcome(kind->second, path);
    for (char& c : line)
      if (c == '\n') c = ' ';
    std::cout << line << std::endl;  // flushed, so that results before a crash are known
  }
  return 0;
}
#endif
