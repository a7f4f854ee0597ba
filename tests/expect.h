// Assertions on texts and errors, whose failures show the text and the missing part.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace voxswap::test {

// Whether a text contains all of these parts.
template <class... Parts>
testing::AssertionResult contains(const std::string& text, const Parts&... parts) {
  for (const std::string_view part : {std::string_view(parts)...})
    if (text.find(part) == text.npos)
      return testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
  return testing::AssertionSuccess() << "in: " << text;
}

// The message of the error that `action` throws, or an empty one.
template <class Action>
std::string error_of(const Action& action, Exit exit,
                     const std::source_location& where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expects an error");
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit) << error.what();
    return error.what();
  }
  return "";
}

// The message of the error that `action` must throw.
template <class Action>
std::string message_of(const Action& action, Exit exit,
                       const std::source_location& where = std::source_location::current()) {
  const std::string message = error_of(action, exit, where);
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expects an error");
  EXPECT_NE(message, "") << "nothing was thrown";
  return message;
}

// `action` must throw an error whose message contains all of `parts`.
template <class Action>
void expect_failure(const Action& action, Exit exit, const std::vector<std::string>& parts = {},
                    const std::source_location& where = std::source_location::current()) {
  const std::string message = message_of(action, exit, where);
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expects an error");
  for (const std::string& part : parts) EXPECT_TRUE(contains(message, part));
}

}  // namespace voxswap::test
