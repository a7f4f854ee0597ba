// Text becomes YAML that is read back as the same text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "experiments/yaml.h"
#include "tests/texts.h"

namespace voxswap::experiments {
namespace {

RC_GTEST_PROP(RoundTrip, OfTextInYamlKeepsIt, ()) {
  const std::string text = *test::any_text();
  const Yaml value = parse_yaml_value(yaml_scalar(text), "here");
  RC_ASSERT(value.kind == Yaml::Kind::scalar);
  RC_ASSERT(value.text == text);
  const Yaml file = parse_yaml("key: " + yaml_scalar(text) + "\nother: 1\n", "file");
  RC_ASSERT(file.find("key")->text == text);
}

RC_GTEST_PROP(RoundTrip, OfAListInYamlKeepsItsTexts, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(test::any_text());
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(yaml_scalar(text));
  const Yaml list = parse_yaml_value("[" + join(items, ", ") + "]", "here");
  RC_ASSERT(list.items.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) RC_ASSERT(list.items[i].text == texts[i]);
}

}  // namespace
}  // namespace voxswap::experiments
