// Writing JSON texts.
#pragma once

#include <string>
#include <string_view>

namespace sim {

// The text as a JSON string, with its quotation marks.
inline std::string quoted(std::string_view text) {
  constexpr char HEX[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      result += "\\u00";
      result += HEX[byte >> 4];
      result += HEX[byte & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

// `"name":` followed by a value that is JSON already.
inline std::string member(std::string_view name, const std::string &value) {
  return quoted(name) + ":" + value;
}

}  // namespace sim
