// Diary: what one of those who ask has asked and was told. Each answer is on the disk before
// anything is done that stands on it.
//
// Lines of words: what was asked (`asked`), and what was answered (`told`):
//   asked|told create KEY
//   asked fire KEY ID                              told fire KEY ID REVISION
//   asked settle MACHINE KEY FENCE VERB            told settle MACHINE KEY FENCE KIND known|unknown
//                                                  told start MACHINE KEY FENCE
// `unknown`: an answer to the same was lost before.
#pragma once

#include <filesystem>

#include "wire.h"

namespace pawl::kill {

class Diary {
 public:
  explicit Diary(const std::filesystem::path& file);

  void asked(const Words& words);
  void told(const Words& words);

 private:
  void write_line(const char* first, const Words& words);

  Descriptor file_;
};

}  // namespace pawl::kill
