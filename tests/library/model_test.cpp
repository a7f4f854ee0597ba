// Tests that a model file writes only the files of a model, whatever it contains.
#include "library/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::library {
namespace {

class ModelFile : public test::InAFolder {
 protected:
  Model model() const {
    Model model;
    for (const char* name : {"experiment.yaml", "dataset.json", "identity.json"}) model.files[name] = name;
    model.weights["checkpoints/best.safetensors"] = {{{"run", "\"checksum\":\"1"}},
                                                     {{"a:b", Shape{1, 1, 1, 1, 2}, {1, 2}}}};
    return model;
  }
  std::string refusal(const Model& model) const {
    write_model(folder_ / "x.model", model);
    return test::error_of([&] { read_model(folder_ / "x.model"); }, Exit::bad_data);
  }
};

TEST_F(ModelFile, ComesBackAsItWasWritten) {
  write_model(folder_ / "x.model", model());
  const Model read = read_model(folder_ / "x.model");
  EXPECT_EQ(read.files, model().files);
  ASSERT_EQ(read.weights.size(), 1u);
  const pipeline::Checkpoint& weights = read.weights.begin()->second;
  EXPECT_EQ(weights.metadata, model().weights.begin()->second.metadata);
  ASSERT_EQ(weights.tensors.size(), 1u);
  EXPECT_EQ(weights.tensors[0].name, "a:b");
  EXPECT_EQ(weights.tensors[0].values, (std::vector<float>{1, 2}));
}

TEST_F(ModelFile, WithOtherPathsIsRefused) {
  for (const char* path : {"../experiment.yaml", "/etc/passwd", "notes.txt", "checkpoints/../x.safetensors",
                           "checkpoints/repeat_1/../best.safetensors", "", "experiment.yaml/x"}) {
    Model other = model();
    other.files[path] = "x";
    EXPECT_TRUE(test::contains(refusal(other), "not part of a model")) << path;
    other = model();
    other.weights[path] = {};
    EXPECT_TRUE(test::contains(refusal(other), "not part of a model")) << path;
  }
}

TEST_F(ModelFile, WithoutAnExperimentOrWeightsIsRefused) {
  Model other = model();
  other.files.erase("identity.json");
  EXPECT_TRUE(test::contains(refusal(other), "identity.json"));
  other = model();
  other.weights.clear();
  EXPECT_TRUE(test::contains(refusal(other), "no weights"));
}

}  // namespace
}  // namespace voxswap::library
