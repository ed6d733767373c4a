// The list of exported operators, for tests that compare prototypes.
#include <map>

#include "operator.h"

namespace {

std::map<std::string, std::string> &exported() {
  static auto *all = new std::map<std::string, std::string>;
  return *all;
}

}  // namespace

sim::Exported::Exported(const char *name, const std::string &kinds) { exported()[name] = kinds; }

// "aclnnAdd T T S T>\n..." in alphabetical order; valid as long as the library is loaded.
CANN_EXPORT const char *simOperators() {
  static const std::string text = [] {
    std::string lines;
    for (const auto &[name, kinds] : exported()) lines += name + " " + kinds + "\n";
    return lines;
  }();
  return text.c_str();
}
