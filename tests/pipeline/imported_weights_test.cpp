// Weights that other programs made, as they name them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/networks/networks.h"
#include "pipeline/export/import_run.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class ImportedWeights : public testing::Test {
 protected:
  ImportedWeights() {
    net::NetworkOptions options;
    options.name = "plain_unet";
    options.base_filters = 2;
    options.depth = 3;
    network_ = net::build_network(options, {1, 8, 8, 8, 1}, 2, net::ElementType::f32, false);
    for (const net::ValueId id : network_.parameters) {
      const net::Value& value = network_.graph.value(id);
      const auto count = static_cast<std::size_t>(value.shape.count());
      tensors_.push_back(
          {value.name, value.shape, std::vector<float>(count, static_cast<float>(tensors_.size()))});
    }
  }

  std::vector<Tensor> imported(const std::vector<Tensor>& tensors) const {
    const fs::path file = folder_.path() / "weights.safetensors";
    write_checkpoint(file, {{}, tensors});
    return imported_weights(file, network_);
  }

  test::TemporaryFolder folder_;
  net::ForwardGraph network_;
  std::vector<Tensor> tensors_;
};

// As MIC-DKFZ's dynamic-network-architectures has them: every layer again in a list, the encoder again in the
// decoder, logits on every level.
TEST_F(ImportedWeights, OfNnUNetsOwnNetworksMayHaveTheirPartsTwice) {
  std::vector<Tensor> twice = tensors_;
  for (const Tensor& tensor : tensors_) {
    const std::size_t at = tensor.name.find(".conv.weight");
    if (at == tensor.name.npos) continue;
    twice.push_back({tensor.name.substr(0, at) + ".all_modules.0.weight", tensor.shape, tensor.values});
    if (tensor.name.starts_with("encoder."))
      twice.push_back({"decoder." + tensor.name, tensor.shape, tensor.values});
  }
  twice.push_back({"decoder.seg_layers.0.weight", {2, 4, 1, 1, 1}, std::vector<float>(8, -1)});
  EXPECT_GT(twice.size(), tensors_.size() + 10);
  const std::vector<Tensor> found = imported(twice);
  ASSERT_EQ(found.size(), tensors_.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, tensors_[i].name);
    EXPECT_EQ(found[i].values, tensors_[i].values) << found[i].name;
  }
}

TEST_F(ImportedWeights, ThatTheNetworkHasNoPlaceForAreRefused) {
  std::vector<Tensor> more = tensors_;
  more.push_back({"encoder.stages.9.0.convs.0.conv.weight", {1}, {0}});
  EXPECT_THROW(imported(more), Error);
  more = tensors_;
  more.pop_back();
  EXPECT_THROW(imported(more), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
