// Runs transcripts: commands, a line `----`, and everything that the roles did, up to an empty line.
//
//   transcripts FILE...             compares; exit 1 with a diff when the roles did something else
//   transcripts --rewrite FILE...   writes what they did into the files: read the diff before you commit it
//
// Lines that start with # and empty lines are kept as they are.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/transcripts/stage.h"

namespace convoy::transcripts {
namespace {

struct Result {
  std::string text;
  std::size_t commands = 0;
  bool broken = false;  // a command that means nothing
};

// The transcript as it would be written now.
Result replay(const std::string& text) {
  Stage stage;
  Result result;
  std::istringstream in(text);
  std::string line;
  std::string effects;
  const auto flush = [&] {
    if (!effects.empty()) result.text += "----\n" + effects;
    effects.clear();
  };
  bool in_output = false;
  while (std::getline(in, line)) {
    if (in_output && !line.empty()) continue;  // what was expected before
    if (line == "----") {
      in_output = true;
      continue;
    }
    if (line.empty()) flush();
    in_output = false;
    result.text += line + "\n";
    if (line.empty() || line[0] == '#') continue;
    const std::string out = stage.command(line);
    ++result.commands;
    result.broken = result.broken || out.find("error:") != std::string::npos;
    effects += out;
  }
  flush();
  return result;
}

void print_difference(const std::string& expected, const std::string& actual) {
  std::istringstream e(expected);
  std::istringstream a(actual);
  std::string expected_line;
  std::string actual_line;
  for (int number = 1;; ++number) {
    const bool more_expected = static_cast<bool>(std::getline(e, expected_line));
    const bool more_actual = static_cast<bool>(std::getline(a, actual_line));
    if (!more_expected && !more_actual) return;
    if (more_expected && more_actual && expected_line == actual_line) continue;
    std::cout << "  line " << number << "\n    expected: " << (more_expected ? expected_line : "(end)")
              << "\n    got:      " << (more_actual ? actual_line : "(end)") << "\n";
    return;
  }
}

int run(int argc, char** argv) {
  bool rewrite = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rewrite")
      rewrite = true;
    else
      files.emplace_back(argv[i]);
  }
  if (files.empty()) {
    std::cerr << "usage: transcripts [--rewrite] FILE...\n";
    return 2;
  }
  int failed = 0;
  for (const std::string& file : files) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    const Result result = replay(text.str());
    if (!in || result.commands == 0 || result.broken) {
      std::cout << file << ": unreadable, without commands, or with one that means nothing\n";
      if (result.broken && rewrite) std::cout << result.text;
      ++failed;
      continue;
    }
    if (result.text == text.str()) continue;
    if (rewrite) {
      std::ofstream(file) << result.text;
      std::cout << file << ": rewritten\n";
      continue;
    }
    std::cout << file << ": the roles did something else\n";
    print_difference(text.str(), result.text);
    ++failed;
  }
  std::cout << files.size() << " transcripts, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace convoy::transcripts

int main(int argc, char** argv) {
  return convoy::transcripts::run(argc, argv);
}
