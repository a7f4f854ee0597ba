// The JSON Schema of the experiment file accepts and rejects the same files as the reader.
#include "experiments/schema.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "experiments/experiment.h"
#include "experiments/keys.h"
#include "tests/expect.h"
#include "tests/experiments/json_schema.h"
#include "tests/folder.h"

namespace voxswap::experiments {
namespace {

const fs::path source = VOXSWAP_SOURCE_DIR;

// Converts values as YAML 1.2 defines them.
Json json_of(const Yaml& yaml) {
  if (yaml.kind == Yaml::Kind::nothing) return nullptr;
  if (yaml.kind == Yaml::Kind::list) {
    Json list = Json::array();
    for (const Yaml& item : yaml.items) list.push_back(json_of(item));
    return list;
  }
  if (yaml.kind == Yaml::Kind::map) {
    Json map = Json::object();
    for (const auto& [name, entry] : yaml.entries) map[name] = json_of(entry);
    return map;
  }
  if (!yaml.quoted && (yaml.text == "true" || yaml.text == "false")) return yaml.text == "true";
  if (const auto whole = parse_number<std::int64_t>(yaml.text); whole && !yaml.quoted) return *whole;
  if (const auto real = parse_number<double>(yaml.text); real && !yaml.quoted) return *real;
  return yaml.text;
}

std::vector<fs::path> shipped() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source / "experiments"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  return files;
}

TEST(Schema, AcceptsEveryExperimentThatShips) {
  const SchemaCheck check(schema());
  const std::vector<fs::path> files = shipped();
  EXPECT_GT(files.size(), 20U);
  for (const fs::path& file : files) {
    EXPECT_TRUE(check.accepts(json_of(parse_yaml(read_file(file), file.string())))) << file;
  }
}

TEST(Schema, AcceptsTheResolvedFileOfARun) {
  const test::TemporaryFolder folder;
  write_file(folder / "study.yaml", "");
  const std::string resolved = load_experiment(folder / "study.yaml", {}).resolved;
  EXPECT_TRUE(SchemaCheck(schema()).accepts(json_of(parse_yaml(resolved, "resolved"))));
}

TEST(Schema, RefusesBrokenExperimentsAsTheReaderDoes) {
  const test::TemporaryFolder folder;
  const SchemaCheck check(schema());
  fs::ifstream lines(source / "tests/fixtures/broken_experiments.txt");
  int broken = 0;
  for (std::string line; std::getline(lines, line); ++broken) {
    EXPECT_FALSE(check.accepts(json_of(parse_yaml(line, "broken")))) << line;
    write_file(folder / "broken.yaml", line + "\n");
    EXPECT_THROW(load_experiment(folder / "broken.yaml", {}), Error) << line;
  }
  EXPECT_GE(broken, 50);
}

// Editors show these texts in completions.
TEST(Schema, DescribesEveryKeyAndItsDefault) {
  const Json made = schema();
  for (const Key& key : keys()) {
    const Json& definition = made.at("definitions").at(key.path);
    EXPECT_TRUE(test::contains(definition.at("description").get<std::string>(),
                               key.path == "sweep" ? "sweep" : key.meaning));
    if (key.path == "sweep" || key.path == "name") continue;
    EXPECT_FALSE(key.allowed.is_null()) << key.path;
    ASSERT_TRUE(definition.contains("default")) << key.path;
    Json file = definition.at("default");
    std::string path = key.path;
    for (std::size_t dot; (dot = path.rfind('.')) != path.npos; path.resize(dot))
      file = Json{{path.substr(dot + 1), file}};
    EXPECT_TRUE(SchemaCheck(made).accepts(Json{{path, file}})) << key.path << " " << definition.at("default");
  }
}

TEST(Schema, LiesBesideTheExperimentsAsItIsPrinted) {
  const fs::path file = source / "experiments/experiment.schema.json";
  EXPECT_EQ(read_file(file), schema().dump(2) + "\n")
      << "write it anew: voxswap schema > experiments/experiment.schema.json";
  for (const fs::path& experiment : shipped())
    EXPECT_TRUE(read_file(experiment).starts_with("# yaml-language-server: $schema=experiment.schema.json\n"))
        << experiment;
}

}  // namespace
}  // namespace voxswap::experiments
