#include "diary.h"

#include <fcntl.h>
#include <unistd.h>

#include "pawl/assert.h"

namespace pawl::kill {

Diary::Diary(const std::filesystem::path& file)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  PAWL_ASSERT(bool(file_), "a diary can be begun");
}

void Diary::asked(const Words& words) { write_line("asked", words); }

void Diary::told(const Words& words) {
  write_line("told", words);
  PAWL_ASSERT(fdatasync(file_.number()) == 0, "a diary can be synced");
}

void Diary::write_line(const char* first, const Words& words) {
  std::string line = first;
  for (const std::string& word : words) line += "\t" + word;
  line += "\n";
  PAWL_ASSERT(write(file_.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size()),
              "a diary can be written");
}

}  // namespace pawl::kill
